import Handoff

/// What a machine hands to another: the whole list, or the one item that is being edited.
enum ShoppingActivity: Equatable {
    case view([String])
    case edit(String)

    static let viewType = "org.handoff.shopping.view"
    static let editType = "org.handoff.shopping.edit"

    var type: String {
        switch self {
        case .view: Self.viewType
        case .edit: Self.editType
        }
    }

    var title: String {
        switch self {
        case .view: "Shopping list"
        case .edit: "Shopping list item"
        }
    }

    var userInfo: [String: PropertyList] {
        switch self {
        case .view(let items): ["items": .array(items.map { .string($0) })]
        case .edit(let item): ["item": .string(item)]
        }
    }

    /// Reads what a peer sent, of which nothing is sure.
    init(type: String, userInfo: [String: PropertyList]) throws(HandoffError) {
        switch type {
        case Self.viewType:
            guard let values = userInfo["items"]?.arrayValue else { throw .missingKey("items") }
            let items = values.compactMap(\.stringValue)
            guard items.count == values.count else { throw .missingKey("items") }
            self = .view(items)
        case Self.editType:
            guard let item = userInfo["item"]?.stringValue else { throw .missingKey("item") }
            self = .edit(item)
        default:
            throw HandoffError(.invalidActivity, "this app does not know activities of the type \(type)")
        }
    }
}
