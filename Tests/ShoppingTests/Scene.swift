import CommandLineKit
import Foundation
import Handoff
import HandoffTestKit
import Testing

@testable import Shopping

/// The app in one session, and another machine of the user that looks on.
struct Scene {
    private static let account = TestAccount()

    let session: ShoppingSession
    let file: JSONFile<ShoppingList>
    let onlooker: HandoffPeer
    let directory: String

    /// Runs a test with a list of these items, and takes everything down.
    static func with(_ items: [String], showsList: Bool = true, _ test: (Scene) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "shopping-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = JSONFile<ShoppingList>("shopping.json", in: directory)
        if !items.isEmpty { try file.update(from: ShoppingList()) { _ = $0.merge(items) } }
        let (network, app) = (LoopbackNetwork(), TestApp())
        // Like the command that continues, the onlooker is a visitor: there is one link then, from the beginning.
        let peers = try [false, true].map { try makePeer(isVisitor: $0, on: network, app: app) }
        let running = peers.map { peer in Task { try await peer.run() } }  // stop() ends it
        let session = ShoppingSession(file, on: peers[0], showsList: showsList)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await test(Scene(session: session, file: file, onlooker: peers[1], directory: directory))
            )
        } catch {
            outcome = .failure(error)
        }
        for peer in peers { await peer.stop() }
        for task in running { _ = await task.result }
        withExtendedLifetime(app) {}
        try outcome.get()
    }

    /// Waits until the onlooker is offered this and nothing else, and gives the activity's id.
    @discardableResult
    func offers(_ title: String?, sourceLocation: SourceLocation = #_sourceLocation) async throws -> UUID? {
        var offers: [Offer] = []
        let isSeen = await eventually {
            offers = await onlooker.peers().flatMap(\.offers)
            return offers.map(\.title) == (title.map { [$0] } ?? [])
        }
        try #require(isSeen, "\(offers) is offered", sourceLocation: sourceLocation)
        return offers.first?.id
    }

    /// What the onlooker takes over.
    func takenOver() async throws -> ShoppingActivity {
        let activity = try await onlooker.continueNearest().activity
        return try ShoppingActivity(type: activity.type, userInfo: activity.userInfo)
    }

    private static func makePeer(isVisitor: Bool, on network: LoopbackNetwork, app: TestApp) throws -> HandoffPeer {
        try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.shopping",
                name: "shopping",
                host: "host",
                types: [ShoppingActivity.viewType, ShoppingActivity.editType],
                ports: 0...0,
                isVisitor: isVisitor
            ),
            identity: account.makeIdentity(),
            discovery: LoopbackDiscovery(network: network),
            application: app
        )
    }
}
