public import FoundationEssentials

/// The rule for an activity's web page: `http` or `https`, and a host.
public enum WebpageURL {
    /// The longest address in bytes.
    public static let maximumSize = 2048

    /// Reads an address.
    ///
    /// - Returns: Nil where it breaks the rule.
    public static func parse(_ text: String) -> URL? {
        guard text.utf8.count <= maximumSize, let url = URL(string: text), isValid(url) else { return nil }
        return url
    }

    /// True for an address that keeps the rule.
    public static func isValid(_ url: URL) -> Bool {
        let text = url.absoluteString
        return ["http", "https"].contains(url.scheme?.lowercased()) && !(url.host() ?? "").isEmpty
            && text.utf8.count <= maximumSize && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
