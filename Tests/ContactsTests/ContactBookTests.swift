import HandoffTestKit
import Testing

@testable import Contacts

@Suite("The contacts of a machine")
struct ContactBookTests {
    private func contact(_ first: String, _ last: String) -> Contact {
        var contact = Contact()
        contact[.first] = first
        contact[.last] = last
        return contact
    }

    @Test("are none at first, and then those that were added and not removed, in their order (000-2, 000-12)")
    func keeps() throws {
        try withTemporaryDirectory { directory in
            let book = ContactBook(in: directory)
            #expect(try book.contacts().isEmpty)
            let all = [contact("Ada", "Lovelace"), contact("Zoë", "Ödland"), contact("", "Babbage")]
            for contact in all { try book.add(contact) }
            #expect(try ContactBook(in: directory).contacts() == all)
            try book.remove(named: "Ödland")
            #expect(try ContactBook(in: directory).contacts() == [all[0], all[2]])
            #expect(throws: (any Error).self) { try book.remove(named: "Ödland") }
            #expect(throws: (any Error).self) { try book.contact(named: "Ödland") }
            #expect(throws: (any Error).self) { try book.add(Contact()) }
            #expect(try book.contacts().count == 2)
        }
    }

    @Test("are not taken for one another where several fit a name")
    func ambiguous() throws {
        try withTemporaryDirectory { directory in
            let book = ContactBook(in: directory)
            for contact in [contact("Ada", "Lovelace"), contact("Ada", "Byron")] { try book.add(contact) }
            #expect(throws: (any Error).self) { try book.remove(named: "Ada") }
            try book.remove(named: "Ada Byron")
            #expect(try book.contact(named: "Ada")[.last] == "Lovelace")
        }
    }
}
