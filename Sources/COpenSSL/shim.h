#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// What a call on a connection came to.
typedef struct {
    int value;           // what the call returned
    int error;           // SSL_ERROR_*, SSL_ERROR_NONE where value is positive
    unsigned long code;  // the newest entry of the error queue, for SSL_ERROR_SSL
} COpenSSL_Outcome;

// The error queue belongs to the thread, and SSL_get_error judges by it: what another connection left there would turn
// "want read" into a failure. So clearing, calling and asking are one C function, and the queue is left empty.
static inline COpenSSL_Outcome COpenSSL_outcome(const SSL *ssl, int value) {
    COpenSSL_Outcome outcome = {value, SSL_ERROR_NONE, 0};
    if (value <= 0) {
        outcome.error = SSL_get_error(ssl, value);
        outcome.code = ERR_peek_last_error();
        ERR_clear_error();
    }
    return outcome;
}

static inline COpenSSL_Outcome COpenSSL_SSL_do_handshake(SSL *ssl) {
    ERR_clear_error();
    return COpenSSL_outcome(ssl, SSL_do_handshake(ssl));
}

static inline COpenSSL_Outcome COpenSSL_SSL_read(SSL *ssl, void *buffer, int count) {
    ERR_clear_error();
    return COpenSSL_outcome(ssl, SSL_read(ssl, buffer, count));
}

static inline COpenSSL_Outcome COpenSSL_SSL_peek(SSL *ssl, void *buffer, int count) {
    ERR_clear_error();
    return COpenSSL_outcome(ssl, SSL_peek(ssl, buffer, count));
}

static inline COpenSSL_Outcome COpenSSL_SSL_write(SSL *ssl, const void *bytes, int count) {
    ERR_clear_error();
    return COpenSSL_outcome(ssl, SSL_write(ssl, bytes, count));
}

static inline COpenSSL_Outcome COpenSSL_SSL_shutdown(SSL *ssl) {
    ERR_clear_error();
    return COpenSSL_outcome(ssl, SSL_shutdown(ssl));
}

// Macros and variadic functions, which Swift does not import; each does what its name says.
static inline int COpenSSL_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}

static inline int COpenSSL_SSL_set_min_proto_version(SSL *ssl, int version) {
    return SSL_set_min_proto_version(ssl, version);
}

static inline int COpenSSL_SSL_set_max_proto_version(SSL *ssl, int version) {
    return SSL_set_max_proto_version(ssl, version);
}

static inline int COpenSSL_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, list);
}

static inline int COpenSSL_SSL_set1_groups_list(SSL *ssl, const char *list) {
    return SSL_set1_groups_list(ssl, list);
}

static inline void COpenSSL_SSL_CTX_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }

static inline void COpenSSL_SSL_clear_mode(SSL *ssl, long mode) { SSL_clear_mode(ssl, mode); }

static inline void COpenSSL_SSL_CTX_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline void COpenSSL_SSL_CTX_set_max_cert_list(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

static inline int COpenSSL_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline EVP_PKEY *COpenSSL_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }

static inline void COpenSSL_OPENSSL_free(void *memory) { OPENSSL_free(memory); }

static inline long COpenSSL_BIO_get_mem_data(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

// Casts, which Swift does not import either.
static const uint64_t COpenSSL_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t COpenSSL_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t COpenSSL_SSL_OP_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;
