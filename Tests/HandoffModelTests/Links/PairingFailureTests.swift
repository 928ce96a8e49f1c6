import HandoffModel
import Testing

@Suite("Why peers are not paired")
struct PairingFailureTests {
    @Test(
        "is told in words of its own",
        arguments: [
            PairingFailure.otherAccount, .otherTeam, .certificateExpired, .certificateNotYetValid, .selfSigned,
            .revoked,
            .badCertificate, .noCertificate, .tlsVersion, .applicationProtocol, .notOfThisAccount, .ourselves,
            .otherMachine, .versionUnsupported, .protocolViolation, .timedOut, .unreachable, .unknownHost,
            .connectionLost, .busy,
        ]
    )
    func words(failure: PairingFailure) {
        #expect(!failure.description.isEmpty)
        #expect(!failure.description.contains(failure.rawValue))
    }
}
