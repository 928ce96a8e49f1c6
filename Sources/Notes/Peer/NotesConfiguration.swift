import CommandLineKit
import FoundationEssentials
import Handoff

/// What the user may decide in `notes.json`, in the configuration directory.
struct NotesConfiguration: Equatable {
    /// From whom notes are taken that are sent here.
    var accept = SendPolicy.anyPeer
    /// Where to look for peers that no announcement leads to.
    var peers: [NetworkPlace] = []
    /// Whether radios tell which peer is the nearest.
    var radio = false

    private static let name = "notes.json"

    init() {}

    /// Reads the file; without one, everything is as it is by default.
    ///
    /// - Throws: `CommandFailure` where it cannot be read or says something that is not known.
    init(in directory: String) throws {
        self = try JSONFile<NotesConfiguration>(Self.name, in: directory).read() ?? NotesConfiguration()
    }
}

extension NotesConfiguration: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        static let accept = Key(stringValue: "accept")
        static let peers = Key(stringValue: "peers")
        static let radio = Key(stringValue: "radio")
        static let all = [accept, peers, radio].map(\.stringValue)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        // A misspelt key must not mean that everybody may send.
        if let unknown = container.allKeys.first(where: { !Key.all.contains($0.stringValue) }) {
            throw CommandFailure(
                "\(Self.name) has the unknown key “\(printable(unknown.stringValue))”; there are: "
                    + Key.all.joined(separator: ", ")
            )
        }
        if container.contains(.peers) { peers = try Self.places(container) }
        if container.contains(.radio) {
            guard let isUsed = try? container.decode(Bool.self, forKey: .radio) else {
                throw CommandFailure("“radio” in \(Self.name) is true or false")
            }
            radio = isUsed
        }
        guard container.contains(.accept) else { return }
        if let names = try? container.decode([String].self, forKey: .accept) {
            accept = .named(Set(names))
            return
        }
        switch try? container.decode(String.self, forKey: .accept) {
        case "any": accept = .anyPeer
        case "never": accept = .never
        default:
            throw CommandFailure(
                "“accept” in \(Self.name) is \"any\", \"never\", or a list of host names and machine ids"
            )
        }
    }

    private static func places(_ container: KeyedDecodingContainer<Key>) throws -> [NetworkPlace] {
        let texts = try? container.decode([String].self, forKey: .peers)
        let places = (texts ?? []).compactMap { NetworkPlace($0) }
        guard let texts, places.count == texts.count, places.count <= maximumPlaces else {
            throw CommandFailure(
                "“peers” in \(name) is a list of at most \(maximumPlaces) hosts, each with or "
                    + "without a port, such as kitchen or 10.0.0.7:24281"
            )
        }
        return places
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        if !peers.isEmpty { try container.encode(peers.map(\.description), forKey: .peers) }
        if radio { try container.encode(radio, forKey: .radio) }
        switch accept {
        case .anyPeer: try container.encode("any", forKey: .accept)
        case .named(let names): try container.encode(names.sorted(), forKey: .accept)
        case .never: try container.encode("never", forKey: .accept)
        }
    }
}
