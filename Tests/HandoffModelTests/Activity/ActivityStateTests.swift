import HandoffModel
import Testing

@Suite("The life of an activity")
struct ActivityStateTests {
    @Test("A new activity needs a save, and setting properties does not ask for another")
    func needsSave() {
        var state = ActivityState()
        #expect(state.needsSave)
        #expect(state.beginSave() == true)
        state.userInfo = ["key": "value"]
        #expect(!state.needsSave)
        #expect(state.beginSave() == false)
    }

    @Test("userInfo is empty at each save, and a change during the save asks for the next one")
    func emptiedBeforeSave() {
        var state = ActivityState()
        state.userInfo = ["old": "value"]
        #expect(state.beginSave() == true)
        #expect(state.userInfo.isEmpty)
        state.needsSave = true
        #expect(state.beginSave() == true)
    }

    @Test("Becoming current twice changes nothing, resigning can be undone, invalidating cannot")
    func phases() {
        var state = ActivityState()
        #expect(state.resignCurrent() == false)
        #expect(state.becomeCurrent() == true)
        #expect(state.becomeCurrent() == false)
        #expect(state.resignCurrent() == true)
        #expect(state.becomeCurrent() == true)
        #expect(state.invalidate() == true)
        #expect(state.becomeCurrent() == false)
        #expect(state.invalidate() == false)
    }

    @Test(
        "A type is reverse-DNS",
        arguments: [
            ("org.example.note", true), ("a.b", true), ("org.example.edit-contact_2", true), ("note", false),
            ("", false),
            (".a.b", false), ("a..b", false), ("a.b.", false), ("a.b c", false), ("a.b\n", false), ("ä.b", false),
            ("a." + String(repeating: "x", count: 253), true), ("a." + String(repeating: "x", count: 254), false),
        ]
    )
    func types(type: String, isValid: Bool) {
        #expect(ActivityType.isValid(type) == isValid)
    }

    @Test("Errors are equal by code, and keep Apple's numbers")
    func errors() {
        #expect(HandoffError(.handoffFailed, "a") == HandoffError(.handoffFailed, "b"))
        #expect(HandoffError(.handoffFailed, "a") != HandoffError(.cancelled, "a"))
        let numbers: [(HandoffError.Code, Int)] = [
            (.cancelled, 3072), (.streamsUnsupported, 3328), (.handoffFailed, 4608), (.connectionUnavailable, 4609),
            (.remoteApplicationTimedOut, 4610), (.userInfoTooLarge, 4611),
        ]
        for (code, number) in numbers {
            #expect(code.rawValue == number)
            #expect(HandoffError.Code(rawValue: number) == code)
        }
    }
}
