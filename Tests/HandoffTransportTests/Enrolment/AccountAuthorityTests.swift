import COpenSSL
import Foundation
import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("An account's authority")
actor AccountAuthorityTests {
    nonisolated var unownedExecutor: UnownedSerialExecutor { blockingTests.asUnownedSerialExecutor() }

    private static let team = "HANDOFFAPP"
    private static let machineID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
    private static var now: Int64 { Int64(time(nil)) }

    private let authority = AccountAuthority(name: "Ada/Lovelace + “Söhne”", now: now)
    private let machine = NewMachine()

    private func issue(_ request: [UInt8]? = nil, now: Int64 = now) -> [UInt8]? {
        let request = request ?? machine.certificateRequest()
        return authority.issue(request: request, team: Self.team, machineID: Self.machineID, now: now)
    }

    private func goodCertificate() throws -> [UInt8] { try #require(issue()) }

    private func identity(_ certificate: [UInt8]) throws -> Identity {
        try machine.identity(
            account: authority.certificateDER,
            certificate: certificate,
            discoveryKey: authority.discoveryKey
        )
    }

    @Test("issues certificates that peers accept")
    func issued() throws {
        let identity = try identity(goodCertificate())
        #expect(identity.teamID == Self.team)
        #expect(identity.machineID == Self.machineID)
        #expect(identity.accountHash == authority.accountHash)
        #expect(identity.accountName == "Ada/Lovelace + “Söhne”")
        #expect(identity.notAfter - identity.notBefore == 400 * 86_400 + 3600)
        #expect(TrustStore(account: authority.certificate).judge(identity.certificate) == nil)
        let other = AccountAuthority(name: "Ada/Lovelace + “Söhne”", now: Self.now)
        #expect(TrustStore(account: other.certificate).judge(identity.certificate) == .otherAccount)
        let peers = try (TLSContext(identity: identity), TLSContext(identity: identity))
        #expect(try shakeHands(makeClient(peers.0), makeServer(peers.1)).client == nil)
    }

    @Test("issues certificates that `openssl verify` accepts, with all that certs/README.md says")
    func openSSL() throws {
        try withTemporaryDirectory { directory in
            try writeFile("\(directory)/account.pem", mode: 0o644, authority.certificate.pem)
            let certificate = try #require(Certificate(der: goodCertificate()))
            try writeFile("\(directory)/certificate.pem", mode: 0o644, certificate.pem)
            func openssl(_ arguments: String...) throws -> String {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = ["openssl"] + arguments
                process.currentDirectoryURL = URL(fileURLWithPath: directory)
                let output = Pipe()
                process.standardOutput = output
                process.standardError = output
                try process.run()
                let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                process.waitUntilExit()
                return text
            }
            for purpose in ["sslserver", "sslclient"] {
                let verdict = try openssl(
                    "verify",
                    "-x509_strict",
                    "-purpose",
                    purpose,
                    "-CAfile",
                    "account.pem",
                    "certificate.pem"
                )
                #expect(verdict == "certificate.pem: OK\n")
            }
            let text = try openssl("x509", "-in", "certificate.pem", "-noout", "-text", "-nameopt", "RFC2253")
            for field in [
                "Subject: CN=handoff peer,OU=HANDOFFAPP", "URI:handoff:machine:\(Self.machineID)", "CA:FALSE",
                "Digital Signature", "TLS Web Server Authentication, TLS Web Client Authentication",
            ] {
                #expect(text.contains(field), "\(field)")
            }
            let account = try openssl("x509", "-in", "account.pem", "-noout", "-text")
            for field in ["CA:TRUE, pathlen:0", "Certificate Sign, CRL Sign", "Dec 31 23:59:59 9999 GMT"] {
                #expect(account.contains(field), "\(field)")
            }
        }
    }

    @Test("takes nothing but the key from a request")
    func request() throws {
        let wish = Self.request { request in
            let subject = X509_REQ_get_subject_name(request)
            X509_NAME_add_entry_by_txt(subject, "OU", MBSTRING_FLAG, "ZZZZZZZZZ9", -1, -1, 0)
        }
        let certificate = try #require(issue(wish).flatMap { Certificate(der: $0) })
        #expect(certificate.organizationalUnits == [Self.team])
    }

    @Test("refuses requests that are damaged, signed by another key, or for a key of another kind")
    func refused() throws {
        let good = machine.certificateRequest()
        #expect(issue([]) == nil)
        #expect(issue(good + [0]) == nil)
        #expect(issue(Array(good.dropLast())) == nil)
        for index in good.indices {
            var bent = good
            bent[index] ^= 0x01
            #expect(issue(bent) == nil, "byte \(index)")
        }
        #expect(issue(Self.request(curve: "P-384") { _ in }) == nil)
        let foreign = Self.request { request in
            let other = PrivateKey.make()
            other.withHandle { _ = X509_REQ_set_pubkey(request, $0) }
        }
        #expect(issue(foreign) == nil)
    }

    @Test("is not believed by a machine for whose key, or by whose account, it did not issue")
    func misissued() throws {
        let certificate = try goodCertificate()
        #expect(throws: IdentityError.self) {
            try NewMachine().identity(
                account: authority.certificateDER,
                certificate: certificate,
                discoveryKey: authority.discoveryKey
            )
        }
        let other = AccountAuthority(name: "Bob", now: Self.now)
        #expect(throws: IdentityError.self) {
            try machine.identity(
                account: other.certificateDER,
                certificate: certificate,
                discoveryKey: authority.discoveryKey
            )
        }
        let year: Int64 = 500 * 86_400
        let expired = try #require(issue(now: Self.now - year))
        #expect(throws: IdentityError.self) { try identity(expired) }
        let early = try #require(issue(now: Self.now + year))
        #expect(throws: IdentityError.self) { try identity(early) }
    }

    @Test("is loaded from the files it was written as, unless others could read its secrets")
    func files() throws {
        try withTemporaryDirectory { parent in
            let path = "\(parent)/account"
            try Directory.write(path, holding: authority.files)
            let loaded = try AccountAuthority(directory: path)
            #expect(loaded.accountHash == authority.accountHash)
            #expect(loaded.discoveryKey == authority.discoveryKey)
            #expect(loaded.name == authority.name)
            chmod("\(path)/account.key", 0o640)
            #expect(throws: IdentityError.self) { try AccountAuthority(directory: path) }
        }
    }

    /// A request by somebody who asks for what they like; the key that signs is the one it is made for at first.
    private static func request(curve: String = "P-256", _ change: (OpaquePointer) -> Void) -> [UInt8] {
        guard let request = X509_REQ_new(), let key = COpenSSL_EVP_EC_gen(curve) else { return [] }
        defer {
            X509_REQ_free(request)
            EVP_PKEY_free(key)
        }
        X509_REQ_set_pubkey(request, key)
        change(request)
        X509_REQ_sign(request, key, EVP_sha256())
        return written { i2d_X509_REQ_bio($0, request) } ?? []
    }
}
