import Foundation
import Handoff
import Testing

@testable import Contacts

@Suite("A contact")
struct ContactTests {
    private var contact: Contact {
        var contact = Contact()
        let texts = ["Zoë 🦉", "", "+49 1", "z@example.org"]
        for (field, text) in zip(Contact.Field.allCases, texts) { contact[field] = text }
        return contact
    }

    @Test("travels without loss, its empty fields too (000-1)")
    func travels() throws {
        #expect(try Contact(contact.userInfo) == contact)
        #expect(try Contact(Contact().userInfo) == Contact())
        #expect(contact.name == "Zoë 🦉")
    }

    @Test("is refused where a key is missing or of another type", arguments: Contact.Field.allCases)
    func refuses(field: Contact.Field) {
        for value in [nil, .integer(1), .array(["a"])] as [PropertyList?] {
            var userInfo = contact.userInfo
            userInfo[field.rawValue] = value
            let error = #expect(throws: HandoffError.self) { try Contact(userInfo) }
            #expect(error?.code == .missingKey)
            #expect(error?.message.contains("\"\(field.rawValue)\"") == true)
        }
    }
}
