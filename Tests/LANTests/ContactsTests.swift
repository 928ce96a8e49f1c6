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

        @Test("goes on from machine to machine and back, as it was entered by then (000-8, 000-10, 000-11)")
        func chain() async throws {
            try await Lab.with(hosts: 3) { lab in
                for host in ["a", "b", "c"] { try await lab.enrol(host) }
                func shown(_ first: String, _ last: String, _ phone: String) -> String {
                    "First name: \(first)\nLast name: \(last)\nPhone number: \(phone)\nEmail address: \n"
                }
                let onA = try lab.converse("a", "contacts", "edit")
                onA.type("Ada")
                try await onA.line(holding: "Last name: ", onErrors: true)
                try await lab.awaitOffers(of: Self.edit, from: "b")
                let onB = try lab.converse("b", "contacts", "continue", "--from", "a")
                try await onB.line(holding: shown("Ada", "", ""))
                onB.type("Lovelace")
                try await onB.line(holding: "Phone number: ", onErrors: true)
                try await lab.awaitOffers(of: Self.edit, count: 2, from: "c")
                let onC = try lab.converse("c", "contacts", "continue", "--from", "b")
                try await onC.line(holding: shown("Ada", "Lovelace", ""))
                onC.type("1")
                try await onC.line(holding: "Email address: ", onErrors: true)
                // Who leaves is not offered any more, saved or not.
                for (left, others) in [(onA, 2), (onB, 1)] {
                    left.endInput()
                    #expect(try await left.outcome().status == 1)
                    try await lab.awaitOffers(of: Self.edit, count: others, from: "a")
                }
                let back = try lab.converse("a", "contacts", "continue")
                for line in ["", ""] { back.type(line) }
                let outcome = try await back.outcome()
                #expect(outcome.status == 0, "\(outcome)")
                #expect(outcome.output == shown("Ada", "Lovelace", "1"))
                #expect(try await lab.run("a", "contacts", "show", "Ada").output == shown("Ada", "Lovelace", "1"))
                for host in ["b", "c"] { #expect(try await contacts(on: host, in: lab) == "[]\n") }
                onC.endInput()
                #expect(try await onC.outcome().status == 1)
                // What is only looked at goes on, too.
                let viewing = try lab.converse("a", "contacts", "view", "Ada")
                try await lab.awaitOffers(of: Self.view, from: "b")
                let onward = try lab.converse("b", "contacts", "continue")
                try await onward.line(holding: "until Ctrl-D", onErrors: true)
                viewing.endInput()
                #expect(try await viewing.outcome().status == 0)
                try await lab.awaitOffers(of: Self.view, from: "c")
                let seen = try await lab.run("c", "contacts", "continue", "--from", "b")
                #expect(seen.output == shown("Ada", "Lovelace", "1"))
            }
        }

        @Test("that is not there is neither shown nor offered (000-12)")
        func none() async throws {
            try await Lab.with(hosts: 1) { lab in
                #expect(try await lab.run("a", "contacts", "list").output.isEmpty)
                #expect(try await contacts(on: "a", in: lab) == "[]\n")
                for verb in ["show", "view", "remove"] {
                    let outcome = try await lab.run("a", "contacts", verb, "Nobody")
                    #expect(outcome.status == 1)
                    #expect(outcome.output.isEmpty)
                    #expect(outcome.errors.contains("there is no contact “Nobody”"))
                }
            }
        }

        private func contacts(on host: String, in lab: Lab) async throws -> String {
            try await lab.run(host, "contacts", "list", "--json").output
        }

        @Test("that is viewed is shown on the other machine as a whole, and not stored there (000-11, 000-14, 000-15)")
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

        @Test("that is half entered goes on elsewhere, and is saved there where it is confirmed (000-5, 000-15)")
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
