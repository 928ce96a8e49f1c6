/// The version of the programs, which are released together (Semantic Versioning 2.0).
public enum Version {
    /// What `--version` tells.
    public static let current = "0.1.0"
}
