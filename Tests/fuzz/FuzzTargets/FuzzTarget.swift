/// A decoder of what strangers or peers send, with what must hold whatever the bytes are.
///
/// The fuzzer and the unit tests run the same checks: that nothing traps, that what was read can be written and read
/// again as the same, and that it keeps to the limits that bound the work.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A connection's bytes, cut into frames.
    case frames
    /// A property list.
    case propertyList = "property-list"
    /// The body of a link's frame.
    case message
    /// All that one end of a link reads after the handshake.
    case link
    /// The body of a stream's frame.
    case stream
    /// The body of an enrolment's frame.
    case enrolment
    /// A TXT record as it is in DNS: strings behind their lengths.
    case record
    /// The server name of a ClientHello.
    case dialProof = "dial-proof"
    /// A certificate in DER.
    case certificate
    /// A certificate request in DER.
    case certificateRequest = "certificate-request"
    /// The code of an invitation as a person types it.
    case code

    /// Reads bytes, and checks what was read.
    ///
    /// - Throws: ``BrokenRule`` where a rule does not hold.
    public func check(_ bytes: [UInt8]) throws(BrokenRule) {
        switch self {
        case .frames: try checkFrames(bytes)
        case .propertyList: try checkPropertyList(bytes)
        case .message: try checkMessage(bytes)
        case .link: try checkLink(bytes)
        case .stream: try checkStream(bytes)
        case .enrolment: try checkEnrolment(bytes)
        case .record: try checkRecord(bytes)
        case .dialProof: try checkDialProof(bytes)
        case .certificate: try checkCertificate(bytes)
        case .certificateRequest: try checkCertificateRequest(bytes)
        case .code: try checkCode(bytes)
        }
    }
}

/// Something that must hold for all input, and does not.
public struct BrokenRule: Error, CustomStringConvertible {
    /// The rule.
    public let description: String

    init(_ rule: String) { description = rule }
}

/// Demands a rule.
func require(_ holds: Bool, _ rule: String) throws(BrokenRule) {
    guard holds else { throw BrokenRule(rule) }
}
