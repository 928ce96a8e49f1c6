import CSystemd
import Glibc

/// Reads the arguments of a message, which is lent, one after the other.
///
/// Whatever does not have the expected form is nil, and the rest of the message is not to be read then. sd-bus has
/// checked lengths and nesting before (D-Bus specification: 64 levels).
struct BusReader {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { self.message = message }

    /// A string or an object path.
    func text(_ type: Character = "s") -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, code(type), &text) > 0, let text else { return nil }
        return String(cString: text)
    }

    func texts() -> [String]? {
        list("s") { text() }
    }

    /// Objects with their interfaces: a{oa{sa{sv}}}.
    func objects() -> [String: [String: BusProperties]]? {
        dictionary("oa{sa{sv}}", key: { text("o") }, value: { _ in interfaces() })
    }

    /// Those of an object's interfaces that are looked at: a{sa{sv}}.
    func interfaces() -> [String: BusProperties]? {
        dictionary("sa{sv}", key: { text() }) { interface in
            guard let wanted = BlueZ.wanted[interface] else { return skip("a{sv}") ? .some(nil) : nil }
            return properties(wanted).map { .some($0) }
        }?.compactMapValues { $0 }
    }

    /// Those of an interface's properties that are looked at: a{sv}.
    func properties(_ wanted: Set<String>) -> BusProperties? {
        dictionary("sv", key: { text() }) { name in
            guard wanted.contains(name) else { return skip("v") ? .some(nil) : nil }
            return variant().map { .some($0) }
        }?.compactMapValues { $0 }
    }

    private func variant() -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard sd_bus_message_peek_type(message, &type, &contents) > 0, type == code("v"), let contents,
            sd_bus_message_enter_container(message, type, contents) > 0,
            let value = value(String(cString: contents)),
            sd_bus_message_exit_container(message) >= 0
        else { return nil }
        return value
    }

    private func value(_ type: String) -> BusValue? {
        switch type {
        case "b": number(CInt.self, "b").map { .flag($0 != 0) }
        case "n": number(Int16.self, "n").map { .number(Int($0)) }
        case "y": number(UInt8.self, "y").map { .number(Int($0)) }
        case "s": text().map { .text($0) }
        case "ay": bytes().map { .bytes($0) }
        case "a{sv}": properties([BlueZ.serviceUUID]).map { .table($0) }
        default: skip(type) ? .other : nil
        }
    }

    private func number<Number: FixedWidthInteger>(_: Number.Type, _ type: Character) -> Number? {
        var number: Number = 0
        return sd_bus_message_read_basic(message, code(type), &number) > 0 ? number : nil
    }

    private func bytes() -> [UInt8]? {
        var pointer: UnsafeRawPointer?
        var count = 0
        guard sd_bus_message_read_array(message, code("y"), &pointer, &count) >= 0 else { return nil }
        return Array(UnsafeRawBufferPointer(start: pointer, count: count))
    }

    private func dictionary<Value>(
        _ types: String,
        key: () -> String?,
        value: (String) -> Value?
    ) -> [String: Value]? {
        let entries: [(String, Value)]? = list("{\(types)}") {
            guard sd_bus_message_enter_container(message, code("e"), types) > 0, let key = key(),
                let value = value(key), sd_bus_message_exit_container(message) >= 0
            else { return nil }
            return (key, value)
        }
        return entries.map { Dictionary($0, uniquingKeysWith: { $1 }) }
    }

    private func list<Element>(_ type: String, _ element: () -> Element?) -> [Element]? {
        guard sd_bus_message_enter_container(message, code("a"), type) > 0 else { return nil }
        var elements: [Element] = []
        while sd_bus_message_at_end(message, 0) == 0 {
            guard let element = element() else { return nil }
            elements.append(element)
        }
        return sd_bus_message_exit_container(message) >= 0 ? elements : nil
    }

    private func skip(_ types: String) -> Bool { sd_bus_message_skip(message, types) >= 0 }
}

/// Adds arguments to a message, which is lent.
///
/// What fails, fails when the message is sent.
struct BusWriter {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { self.message = message }

    func text(_ text: String, _ type: Character = "s") {
        _ = text.withCString { sd_bus_message_append_basic(message, code(type), $0) }
    }

    /// Properties: a{sv}; numbers are of 16 bits with a sign, as a signal's strength is.
    func properties(_ properties: BusProperties) {
        container("a", "{sv}") {
            for (name, property) in properties {
                container("e", "sv") {
                    text(name)
                    variant(property)
                }
            }
        }
    }

    private func variant(_ value: BusValue) {
        switch value {
        case .flag(let flag):
            var number: CInt = flag ? 1 : 0
            container("v", "b") { _ = sd_bus_message_append_basic(message, code("b"), &number) }
        case .number(let number):
            var number = Int16(clamping: number)
            container("v", "n") { _ = sd_bus_message_append_basic(message, code("n"), &number) }
        case .text(let text): container("v", "s") { self.text(text) }
        case .bytes(let bytes):
            container("v", "ay") { _ = sd_bus_message_append_array(message, code("y"), bytes, bytes.count) }
        case .table(let table): container("v", "a{sv}") { properties(table) }
        case .other: preconditionFailure("only values that are known are written")
        }
    }

    private func container(_ type: Character, _ contents: String, _ body: () -> Void) {
        sd_bus_message_open_container(message, code(type), contents)
        body()
        sd_bus_message_close_container(message)
    }
}

/// A type's letter as the C library takes it.
private func code(_ type: Character) -> CChar { CChar(bitPattern: type.asciiValue ?? 0) }
