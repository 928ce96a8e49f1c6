import CommandLineKit
import FoundationEssentials
import Handoff

/// A person: four texts, any of which may be empty.
struct Contact: Codable, Equatable {
    /// The fields, in the order in which they are asked for; their names are the keys of JSON and userInfo.
    enum Field: String, CaseIterable {
        case first, last, phone, email

        var prompt: String {
            switch self {
            case .first: "First name"
            case .last: "Last name"
            case .phone: "Phone number"
            case .email: "Email address"
            }
        }
    }

    private var first = ""
    private var last = ""
    private var phone = ""
    private var email = ""

    init() {}

    subscript(field: Field) -> String {
        get { self[keyPath: Self.place(of: field)] }
        set { self[keyPath: Self.place(of: field)] = newValue }
    }

    private static func place(of field: Field) -> WritableKeyPath<Contact, String> {
        switch field {
        case .first: \.first
        case .last: \.last
        case .phone: \.phone
        case .email: \.email
        }
    }

    /// The name as it is shown and looked for.
    var name: String { [first, last].filter { !$0.isEmpty }.joined(separator: " ") }

    var userInfo: [String: PropertyList] {
        Dictionary(uniqueKeysWithValues: Field.allCases.map { ($0.rawValue, .string(self[$0])) })
    }

    /// Reads what a peer sent, of which nothing is sure.
    init(_ userInfo: [String: PropertyList]) throws(HandoffError) {
        for field in Field.allCases {
            guard let text = userInfo[field.rawValue]?.stringValue else { throw .missingKey(field.rawValue) }
            self[field] = text
        }
    }

    /// The contact as lines for people.
    var lines: String {
        Field.allCases.map { "\($0.prompt): \(printable(self[$0]))\n" }.joined()
    }
}

/// The contacts of this user on this machine; no other machine ever gets the list.
struct ContactBook {
    private let file: JSONFile<[Contact]>

    init() throws {
        self.init(in: try HandoffPaths(environment: ProcessInfo.processInfo.environment).data)
    }

    init(in directory: String) {
        file = JSONFile("contacts.json", in: directory)
    }

    func contacts() throws -> [Contact] { try file.read() ?? [] }

    func add(_ contact: Contact) throws {
        guard !contact.name.isEmpty else { throw CommandFailure("a contact needs a first or a last name; not saved") }
        try file.update(from: []) { $0.append(contact) }
    }

    /// Removes the one contact with a name.
    func remove(named name: String) throws {
        let contact = try contact(named: name)
        try file.update(from: []) { contacts in
            if let place = contacts.firstIndex(of: contact) { contacts.remove(at: place) }
        }
    }

    /// The one contact with a name: the full name, or only the first or the last one.
    func contact(named name: String) throws -> Contact {
        let contacts = try contacts()
        let full = contacts.filter { $0.name == name }
        let found = full.isEmpty ? contacts.filter { $0[.first] == name || $0[.last] == name } : full
        switch found.count {
        case 1: return found[0]
        case 0: throw CommandFailure("there is no contact “\(name)”: see `contacts list`")
        default: throw CommandFailure("several contacts fit “\(name)”: " + found.map(\.name).joined(separator: ", "))
        }
    }
}
