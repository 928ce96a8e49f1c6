import HandoffSupport
import Testing

@Suite("A place that a person names")
struct NetworkPlaceTests {
    @Test(
        "is a host, or a host and a port",
        arguments: [
            ("kitchen", "kitchen", nil, "kitchen"), ("kitchen:24290", "kitchen", 24290, "kitchen:24290"),
            ("10.0.0.7:1", "10.0.0.7", 1, "10.0.0.7:1"), ("::1", "::1", nil, "[::1]"),
            ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535, "[fe80::1%eth0]:65535"), ("[::1]", "::1", nil, "[::1]"),
        ] as [(String, String, UInt16?, String)]
    )
    func places(text: String, host: String, port: UInt16?, description: String) throws {
        let place = try #require(NetworkPlace(text))
        #expect(place.host == host)
        #expect(place.port == port)
        #expect(place.description == description)
    }

    @Test(
        "is nothing else",
        arguments: [
            "", ":24290", "kitchen:", "kitchen:0", "kitchen:65536", "kitchen:-1", "[::1", "[]:1", "[::1]x", "a\0b",
        ]
    )
    func nowhere(_ text: String) {
        #expect(NetworkPlace(text) == nil)
    }

    @Test("has each address with each port, one port after the other, unless a port was named")
    func addresses() async throws {
        let all = try #require(NetworkPlace("127.0.0.1"))
        #expect(await all.addresses(ports: 7...8).map(\.description) == ["127.0.0.1:7", "127.0.0.1:8"])
        let one = try #require(NetworkPlace("[::1]:9"))
        #expect(await one.addresses(ports: 7...8).map(\.description) == ["[::1]:9"])
    }

    @Test("is as many places as there are ports, unless one was named")
    func ports() throws {
        #expect(try #require(NetworkPlace("::1")).places(ports: 7...8).map(\.description) == ["[::1]:7", "[::1]:8"])
        #expect(try #require(NetworkPlace("kitchen:9")).places(ports: 7...8).map(\.description) == ["kitchen:9"])
    }

    @Test("that nobody knows has no addresses")
    func unknown() async throws {
        let place = try #require(NetworkPlace("no such host"))
        #expect(await place.addresses(ports: 7...8).isEmpty)
    }
}
