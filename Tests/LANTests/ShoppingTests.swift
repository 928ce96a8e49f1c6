import Testing

extension NetworkTests {
    @Suite("A shopping list")
    struct ShoppingTests {
        private static let view = "org.handoff.shopping.view"
        private static let edit = "org.handoff.shopping.edit"

        /// Two machines of one user.
        private func withMachines(_ test: (Lab) async throws -> Void) async throws {
            try await Lab.with(hosts: 2) { lab in
                for host in ["a", "b"] { try await lab.enrol(host) }
                try await test(lab)
            }
        }

        private func add(_ items: [String], on host: String, in lab: Lab) async throws {
            for item in items { #expect(try await lab.run(host, "shopping", "add", item).status == 0) }
        }

        private func items(on host: String, in lab: Lab) async throws -> String {
            try await lab.run(host, "shopping", "list").output
        }

        @Test(
            "that is viewed is merged into the other machine's, and a second time changes nothing (003-8, 003-9, 004-2)"
        )
        func viewed() async throws {
            try await withMachines { lab in
                try await add(["Ice cream", "Äpfel 🍏", "Nuts"], on: "a", in: lab)
                try await add(["Milk", "Nuts"], on: "b", in: lab)
                let viewing = try lab.converse("a", "shopping", "view")
                try await lab.awaitOffers(of: Self.view, from: "b")
                let merged = "Milk\nNuts\nIce cream\nÄpfel 🍏\n"
                let first = try await lab.run("b", "shopping", "continue", "--from", "a")
                #expect(first.status == 0, "\(first)")
                #expect(first.output == merged)
                #expect(first.errors.hasPrefix("New here: Ice cream\nNew here: Äpfel 🍏\nThe list is offered"))
                #expect(try await items(on: "b", in: lab) == merged)
                let second = try await lab.run("b", "shopping", "continue")
                #expect(second.status == 0, "\(second)")
                #expect(!second.errors.contains("New here"))
                #expect(try await items(on: "b", in: lab) == merged)
                // What another terminal adds travels, too.
                try await add(["Tea"], on: "a", in: lab)
                try await viewing.line(holding: "The list has 4 items now.", onErrors: true)
                #expect(try await lab.run("b", "shopping", "continue").output == merged + "Tea\n")
                let elsewhere = try await lab.run("b", "shopping", "continue", "--from", "c")
                #expect(elsewhere.status == 1)
                viewing.endInput()
                #expect(try await viewing.outcome().status == 0)
                try await lab.awaitOffers(of: Self.view, count: 0, from: "b")
                #expect(try await lab.run("b", "shopping", "continue").status == 1)
                #expect(try await items(on: "b", in: lab) == merged + "Tea\n")
            }
        }

        @Test("hands over the text of an edited item, which is stored only where it is confirmed (003-8, 003-10)")
        func edited() async throws {
            try await withMachines { lab in
                try await add(["Nuts", "Milk"], on: "a", in: lab)
                let editing = try lab.converse("a", "shopping", "edit", "Nuts")
                try await lab.awaitOffers(of: Self.edit, from: "b")
                editing.type("Hazel")
                editing.type("Hazelnuts")
                try await editing.line(holding: "It is “Hazelnuts” now.", onErrors: true)
                let refused = try await lab.run("b", "shopping", "continue")
                #expect(refused.status == 1)
                #expect(refused.output == "Hazelnuts\n")
                #expect(try await items(on: "b", in: lab).isEmpty)
                let confirming = try lab.converse("b", "shopping", "continue")
                confirming.type("")
                #expect(try await confirming.outcome().status == 0)
                #expect(try await items(on: "b", in: lab) == "Hazelnuts\n")
                #expect(try await items(on: "a", in: lab) == "Nuts\nMilk\n")
                editing.type("")
                #expect(try await editing.outcome().status == 0)
                #expect(try await items(on: "a", in: lab) == "Hazelnuts\nMilk\n")
            }
        }

        @Test("stays as it is where an edit is interrupted")
        func interrupted() async throws {
            try await withMachines { lab in
                try await add(["Nuts"], on: "a", in: lab)
                let editing = try lab.converse("a", "shopping", "edit", "Nuts")
                try await lab.awaitOffers(of: Self.edit, from: "b")
                editing.type("Bolts")
                try await editing.line(holding: "It is “Bolts” now.", onErrors: true)
                editing.interrupt()
                #expect(try await editing.outcome().status == 1)
                #expect(try await items(on: "a", in: lab) == "Nuts\n")
            }
        }

        @Test("is not offered while it is empty, and says so (004-4)")
        func empty() async throws {
            try await Lab.with(hosts: 1) { lab in
                try await lab.enrol("a")
                let viewing = try await lab.run("a", "shopping", "view")
                #expect(viewing.status == 0)
                #expect(viewing.output.isEmpty)
                #expect(viewing.errors.contains("The list is empty, and is not offered"))
                let missing = try await lab.run("a", "shopping", "edit", "Nuts")
                #expect(missing.status == 1)
                #expect(missing.errors.contains("“Nuts” is not on the list"))
            }
        }
    }
}
