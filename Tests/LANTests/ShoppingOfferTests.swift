import Testing

extension NetworkTests {
    @Suite("The offer of a shopping list")
    struct ShoppingOfferTests {
        private static let view = "org.handoff.shopping.view"
        private static let edit = "org.handoff.shopping.edit"

        private func withList(_ items: String..., hosts: Int = 2, _ test: (Lab) async throws -> Void) async throws {
            try await Lab.with(hosts: hosts) { lab in
                try await lab.enrol("a")
                #expect(try await lab.run("a", "shopping", ["add"] + items).status == 0)
                try await test(lab)
            }
        }

        /// Waits until a host sees that just this is offered, or nothing.
        private func awaitOnly(_ type: String?, from host: String, in lab: Lab, within limit: Duration) async throws {
            let expected = type.map { [$0] } ?? []
            _ = try await lab.peers(from: host, within: limit) { $0.compactMap(\.offer?.type) == expected }
        }

        @Test("follows what is done in the session, and in another terminal (003-1, 003-2, 003-3, 003-12, 004-5)")
        func follows() async throws {
            try await withList("Apple", "Nuts") { lab in
                try await lab.enrol("b")
                func expect(_ type: String?) async throws {
                    try await awaitOnly(type, from: "b", in: lab, within: .seconds(6))
                }
                let session = try lab.converse("a", "shopping", "view")
                try await expect(Self.view)
                session.type("edit Nuts")
                try await expect(Self.edit)
                session.type("Bolts")
                session.type("cancel")
                try await expect(Self.view)
                session.type("edit Nuts")
                session.type("Hazelnuts")
                try await session.line(holding: "It is “Hazelnuts” now.", onErrors: true)
                session.type("")
                try await expect(Self.view)
                #expect(try await lab.run("b", "shopping", "continue").output == "Apple\nHazelnuts\n")
                for item in ["Apple", "Hazelnuts"] {
                    #expect(try await lab.run("a", "shopping", "remove", item).status == 0)
                }
                try await session.line(holding: "The list is empty, and is not offered", onErrors: true)
                try await expect(nil)
                session.type("remove Apple")
                try await session.line(holding: "“Apple” is not on the list", onErrors: true)
                session.type("what?")
                try await session.line(holding: "Say `add ITEM`", onErrors: true)
                session.type("add")
                try await expect(Self.edit)
                session.type("Milk")
                session.type("")
                try await expect(Self.view)
                session.type("list")
                session.endInput()
                let outcome = try await session.outcome()
                #expect(outcome.status == 0)
                #expect(outcome.output == "Apple\nNuts\nMilk\n")
                try await expect(nil)
            }
        }

        @Test("ends within seconds when its app is killed or its cable cut, and begins again with it (004-8)")
        func dies() async throws {
            try await withList("Nuts") { lab in
                try await lab.enrol("b")
                let killed = try lab.converse("a", "shopping", "view")
                try await lab.awaitOffers(of: Self.view, from: "b")
                killed.kill()
                try await awaitOnly(nil, from: "b", in: lab, within: .seconds(5))
                let cut = try lab.converse("a", "shopping", "view")
                try await lab.awaitOffers(of: Self.view, from: "b")
                try await lab.control("cut", "a")
                try await awaitOnly(nil, from: "b", in: lab, within: .seconds(10))
                try await lab.control("mend", "a")
                try await lab.awaitOffers(of: Self.view, from: "b")
                cut.endInput()
                #expect(try await cut.outcome().status == 0)
            }
        }

        @Test("reaches no machine of another account or team, none apart, and none without (000-16, 001-9, 004-7)")
        func outsiders() async throws {
            try await withList("Nuts", hosts: 5) { lab in
                try await lab.enrol("b", team: "ZZZZZZZZZ9")
                try await lab.enrol("c", account: "bob")
                try await lab.enrol("e")
                let viewing = try lab.converse("a", "shopping", "view")
                try await lab.awaitOffers(of: Self.view, from: "e")
                for host in ["b", "c"] {
                    let outcome = try await lab.run(host, "shopping", "continue")
                    #expect(outcome.status == 1)
                    #expect(outcome.output.isEmpty)
                    #expect(outcome.errors.contains("no paired peer offers anything"), "\(outcome)")
                }
                // Handing off is not switched on where a machine is not enrolled.
                let without = try await lab.run("d", "shopping", "continue")
                #expect(without.status == 1)
                #expect(without.errors.contains("this machine has no identity"))
                try await lab.control("cut", "e")
                #expect(try await lab.run("e", "shopping", "continue").status == 1)
                try await lab.control("mend", "e")
                try await lab.awaitOffers(of: Self.view, from: "e")
                viewing.endInput()
                #expect(try await viewing.outcome().status == 0)
                #expect(try await lab.run("e", "shopping", "continue").status == 1)
            }
        }
    }
}
