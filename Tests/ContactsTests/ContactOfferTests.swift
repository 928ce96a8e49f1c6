import Handoff
import HandoffTestKit
import Testing

@testable import Contacts

@Suite("The offer of a contact", .timeLimit(.minutes(1)))
struct ContactOfferTests {
    private static let account = TestAccount()

    private func makePeer(
        on network: LoopbackNetwork,
        isVisitor: Bool = false,
        app: TestApp? = nil
    ) throws -> HandoffPeer {
        try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.contacts",
                name: "contacts",
                host: "host",
                types: ContactActivity.allCases.map(\.rawValue),
                ports: 0...0,
                isVisitor: isVisitor
            ),
            identity: Self.account.makeIdentity(),
            discovery: LoopbackDiscovery(network: network),
            application: app
        )
    }

    /// Runs a test with a machine that looks on, and a way to make peers beside it.
    private func withOnlooker(
        _ test: (_ onlooker: HandoffPeer, _ make: () throws -> HandoffPeer) async throws -> Void
    ) async throws {
        let (network, app) = (LoopbackNetwork(), TestApp())
        // Like the command that continues: there is one link then, from the beginning.
        let onlooker = try makePeer(on: network, isVisitor: true, app: app)
        let running = Task { try await onlooker.run() }  // stop() ends it
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await test(onlooker) { try makePeer(on: network) })
        } catch {
            outcome = .failure(error)
        }
        await onlooker.stop()
        _ = await running.result
        withExtendedLifetime(app) {}
        try outcome.get()
    }

    @Test("of an entry holds what is entered by then, a cleared field as well (000-4, 000-5, 000-6)")
    func entry() async throws {
        try await withOnlooker { onlooker, make in
            let entry = LockedBox(Contact())
            try await ContactsPeer.offering(.edit, on: make(), { entry.withLock { $0 } }) { activity in
                #expect(await eventually { await onlooker.offers.map(\.title) == ["New contact"] })
                let untouched = try await onlooker.takenOver()
                #expect(untouched == Taken(kind: .edit, contact: Contact()))
                let steps: [(Contact.Field, String)] = [
                    (.first, "Zoë 🦉"), (.last, "Ödland"), (.last, ""), (.phone, "1"), (.email, "z@example.org"),
                ]
                for (field, text) in steps {
                    entry.withLock { $0[field] = text }
                    activity.needsSave = true
                    let taken = try await onlooker.takenOver()
                    #expect(taken == Taken(kind: .edit, contact: entry.withLock { $0 }))
                    #expect(activity.userInfo.count == Contact.Field.allCases.count)
                }
            }
            #expect(await eventually { await onlooker.offers.isEmpty })
        }
    }

    @Test("that is looked at holds all of it, without a word that it changed (000-7)")
    func view() async throws {
        try await withOnlooker { onlooker, make in
            var contact = Contact()
            for field in Contact.Field.allCases { contact[field] = field.prompt }
            let viewed = contact
            try await ContactsPeer.offering(.view, on: make(), { viewed }) { activity in
                #expect(await eventually { await onlooker.offers.map(\.title) == ["Contact"] })
                #expect(await eventually { !activity.needsSave }, "it is saved once, soon")
                let taken = try await onlooker.takenOver()
                #expect(taken == Taken(kind: .view, contact: viewed))
            }
        }
    }

    @Test("ends with what goes on, be that by an error, and its activity with it (000-8)", arguments: [false, true])
    func ends(byError: Bool) async throws {
        struct Left: Error {}
        try await withOnlooker { onlooker, make in
            let kept = LockedBox<UserActivity?>(nil)
            do {
                try await ContactsPeer.offering(.edit, on: make(), { Contact() }) { activity in
                    kept.withLock { $0 = activity }
                    #expect(await eventually { await onlooker.offers.count == 1 })
                    if byError { throw Left() }
                }
                #expect(!byError)
            } catch is Left {}
            #expect(await eventually { await onlooker.offers.isEmpty })
            #expect(kept.withLock { $0 }?.isInvalidated == true)
        }
    }
}

/// What the onlooker took over.
private struct Taken: Equatable {
    let kind: ContactActivity
    let contact: Contact
}

extension HandoffPeer {
    fileprivate var offers: [Offer] { get async { await peers().flatMap(\.offers) } }

    fileprivate func takenOver() async throws -> Taken {
        let activity = try await continueNearest().activity
        return try Taken(kind: #require(ContactActivity(rawValue: activity.type)), contact: Contact(activity.userInfo))
    }
}
