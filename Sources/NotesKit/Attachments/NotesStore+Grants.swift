import FoundationEssentials
public import HandoffSupport

/// A grant lets one machine ask for a content again after either side was started anew, without a new handoff.
extension NotesStore {
    /// How long a grant lasts: a transfer that broke off is gone on with within a day, or handed off anew.
    public static let grantLifetime = Duration.seconds(24 * 3_600)

    /// Lets a machine have contents for ``grantLifetime`` from now on.
    ///
    /// - Parameters:
    ///   - digests: The contents.
    ///   - machine: The machine's id, of its certificate.
    /// - Throws: ``NotesStoreError``.
    public func grant(_ digests: [ContentDigest], to machine: String) throws {
        let until = now().addingTimeInterval(Self.grantLifetime / .seconds(1))
        try database.transaction {
            try removeExpiredGrants()
            for digest in digests {
                try database.run(
                    "INSERT OR REPLACE INTO blob_grant VALUES (?, ?, ?)",
                    .text(machine),
                    .text(digest.description),
                    .real(until.timeIntervalSince1970)
                )
            }
        }
    }

    /// Whether a machine may have a content now.
    ///
    /// - Throws: ``NotesStoreError``.
    public func isGranted(_ digest: ContentDigest, to machine: String) throws -> Bool {
        try !database.rows(
            "SELECT 1 FROM blob_grant WHERE machine = ? AND digest = ? AND until > ?",
            .text(machine),
            .text(digest.description),
            .real(now().timeIntervalSince1970)
        ) { $0.integer(0) }.isEmpty
    }

    private func removeExpiredGrants() throws {
        try database.run("DELETE FROM blob_grant WHERE until <= ?", .real(now().timeIntervalSince1970))
    }
}
