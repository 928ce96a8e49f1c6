import Testing

extension NetworkTests {
    @Suite("A contact")
    struct ContactsTests {
        private static let view = "org.handoff.contacts.view"
        private static let edit = "org.handoff.contacts.edit"

        private func withMachines(_ test: (Lab) async throws -> Void) async throws {
            try await Lab.with(hosts: 2) { lab in
                for host in ["a", "b"] { try await lab.enrol(host) }
                try await test(lab)
            }
        }

        private func contacts(on host: String, in lab: Lab) async throws -> String {
            try await lab.run(host, "contacts", "list", "--json").output
        }

        @Test("that is viewed is shown on the other machine as a whole, and not stored there")
        func viewed() async throws {
            try await withMachines { lab in
                let name = ["--first", "Zoë 🦉", "--last", "Ödland"]
                let adding = try await lab.run("a", "contacts", ["add", "--phone", "+49 1"] + name)
                #expect(adding.status == 0, "\(adding)")
                let shown = "First name: Zoë 🦉\nLast name: Ödland\nPhone number: +49 1\nEmail address: \n"
                #expect(try await lab.run("a", "contacts", "show", "Ödland").output == shown)
                let viewing = try lab.converse("a", "contacts", "view", "Zoë 🦉 Ödland")
                try await lab.awaitOffers(of: Self.view, from: "b")
                let outcome = try await lab.run("b", "contacts", "continue", "--from", "a")
                #expect(outcome.status == 0, "\(outcome)")
                #expect(outcome.output == shown)
                #expect(try await contacts(on: "b", in: lab) == "[]\n")
                viewing.endInput()
                #expect(try await viewing.outcome().status == 0)
                try await lab.awaitOffers(of: Self.view, count: 0, from: "b")
            }
        }

        @Test("that is half entered goes on elsewhere as it is, and is saved there only where it is confirmed")
        func entered() async throws {
            try await withMachines { lab in
                let entering = try lab.converse("a", "contacts", "edit")
                entering.type("Ada")
                try await entering.line(holding: "Last name: ", onErrors: true)
                try await lab.awaitOffers(of: Self.edit, from: "b")
                let shown = "First name: Ada\nLast name: \nPhone number: \nEmail address: \n"
                let leaving = try await lab.run("b", "contacts", "continue")
                #expect(leaving.status == 1)
                #expect(leaving.output == shown)
                #expect(leaving.errors.contains("the contact was not saved"))
                let unconfirmed = try lab.converse("b", "contacts", "continue")
                for line in ["Lovelace", "1", "ada@example.org"] { unconfirmed.type(line) }
                unconfirmed.endInput()
                #expect(try await unconfirmed.outcome().status == 1)
                #expect(try await contacts(on: "b", in: lab) == "[]\n")
                let confirmed = try lab.converse("b", "contacts", "continue")
                for line in ["Lovelace", "", "ada@example.org", ""] { confirmed.type(line) }
                let outcome = try await confirmed.outcome()
                #expect(outcome.status == 0, "\(outcome)")
                #expect(
                    try await contacts(on: "b", in: lab)
                        == #"[{"email":"ada@example.org","first":"Ada","last":"Lovelace","phone":""}]"# + "\n"
                )
                #expect(try await contacts(on: "a", in: lab) == "[]\n")
                for line in ["Byron", "", ""] { entering.type(line) }
                #expect(try await entering.outcome().status == 0)
                #expect(
                    try await contacts(on: "a", in: lab)
                        == #"[{"email":"","first":"Ada","last":"Byron","phone":""}]"# + "\n"
                )
            }
        }
    }
}
