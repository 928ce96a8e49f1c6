import Foundation
import Testing

@Suite("notes edit", .timeLimit(.minutes(1)))
struct EditVerbTests {
    private let notes: NotesCommand

    init() throws {
        notes = try NotesCommand()
        try #require(try notes("new", "T", "--content", "begun").code == 0)
    }

    private var text: String { get throws { try notes("show", "T").output } }

    /// Leaves the text "typed" of an editor that was killed together with `notes` before it was saved.
    private func crash() throws {
        let result = try notes("edit", "T", editor: "kill -KILL $PPID; printf typed >")
        #expect(result.code == -SIGKILL)
        #expect(try text == "begun")
    }

    @Test("saves each write while the editor is open, and says that nobody is told")
    func writes() throws {
        // Each loop ends by itself, should nothing be saved.
        let script = notes.home + "/editor"
        let waiting = "n=0; until [ \"$(notes show T)\" = WORD ]; do n=$((n+1)); [ $n -lt 500 ] || exit 9; done\n"
        let lines =
            "#!/bin/sh\nprintf one > \"$1\"\n" + waiting.replacingOccurrences(of: "WORD", with: "one")
            + "printf two > \"$1.new\"; mv \"$1.new\" \"$1\"\n" + waiting.replacingOccurrences(of: "WORD", with: "two")
        try Data(lines.utf8).write(to: URL(fileURLWithPath: script))
        let result = try notes("edit", "T", editor: "sh '\(script)'")
        #expect((result.code, result.output) == (0, ""), "\(result.complaint)")
        #expect(result.complaint == "notes: not offered: no peer is running here (start one with: notes run)\n")
        #expect(try text == "two")
    }

    @Test("changes nothing when the editor changes nothing")
    func untouched() throws {
        let before = try notes("show", "T", "--json").output
        #expect(try notes("edit", "T", editor: "touch").code == 0)
        #expect(try notes("show", "T", "--json").output == before)
    }

    @Test("makes a note and prints its id, and renames one without an editor")
    func newAndTitle() throws {
        let made = try notes("edit", "--new", "U", editor: "printf new >")
        #expect(made.code == 0)
        #expect(try notes("show", made.output.trimmingCharacters(in: .newlines)).output == "new")
        #expect(try notes("edit", "U", "--title", "V", editor: "false").code == 0)
        #expect(try notes("show", "V").output == "new")
        #expect(try notes("edit", "V", "--title", " ").code == 1)
    }

    @Test("leaves the keyboard's signals to the editor")
    func signals() throws {
        let ignored = try notes("edit", "T", editor: "kill -INT $PPID; kill -QUIT $PPID; printf on >")
        #expect(ignored.code == 0)
        #expect(try text == "on")
        let killed = try notes("edit", "T", editor: "kill -INT $$; printf survived >")
        #expect(killed.code == 1)
        #expect(killed.complaint.contains("was ended by signal 2; what it wrote is saved"))
        #expect(try text == "on")
    }

    @Test("keeps what a failing editor wrote")
    func failing() throws {
        let result = try notes("edit", "T", editor: "f() { printf kept > \"$1\"; return 3; }; f")
        #expect(result.code == 1)
        #expect(result.complaint.contains("ended with status 3; what it wrote is saved"))
        #expect(try text == "kept")
        #expect(try notes("edit", "T", editor: "/nowhere/editor").code == 1)
    }

    @Test("refuses broken UTF-8 and keeps it until it is mended or given up")
    func brokenText() throws {
        let broken = try notes("edit", "T", editor: "printf 'typed \\377' >")
        #expect(broken.code == 1)
        #expect(broken.complaint.contains("not UTF-8 at byte 6"))
        #expect(broken.complaint.contains("notes edit --recover"))
        #expect(try text == "begun")
        let mended = try notes(
            "edit",
            "T",
            "--recover",
            editor: "f() { grep -aq typed \"$1\" && printf m > \"$1\"; }; f"
        )
        #expect(mended.code == 0, "\(mended.complaint)")
        #expect(try text == "m")
    }

    @Test("goes on with the text of a killed editor once it is told to")
    func recover() throws {
        try crash()
        let unanswered = try notes("edit", "T", editor: "true")
        #expect(unanswered.code == 1)
        #expect(unanswered.complaint.contains("--recover") && unanswered.complaint.contains("--discard"))
        #expect(try notes("rm", "T").code == 1)
        #expect(try notes("edit", "T", "--recover", editor: "true").code == 0)
        #expect(try text == "typed")
        #expect(try notes("edit", "T", "--recover", editor: "true").complaint.contains("nothing to recover"))
        #expect(try notes("list", "--titles").output == "T\n")
    }

    @Test("gives up the text of a killed editor once it is told to")
    func discard() throws {
        try crash()
        #expect(try notes("edit", "T", "--discard", editor: "true").code == 0)
        #expect(try text == "begun")
        #expect(try notes("rm", "T").code == 0)
    }

    @Test("asks nothing after an editor was killed whose text was saved")
    func killedAfterSave() throws {
        let loop = "n=0; until [ \"$(notes show T)\" = s ]; do n=$((n+1)); [ $n -lt 500 ] || exit 9; done"
        let result = try notes("edit", "T", editor: "f() { printf s > \"$1\"; \(loop); kill -KILL $PPID; }; f")
        #expect(result.code == -SIGKILL)
        #expect(try notes("edit", "T", editor: "true").code == 0)
        #expect(try notes("show", "T").output == "s")
        #expect(try notes("list", "--titles").output == "T\n")
    }

    @Test("refuses a second editor of the same note")
    func second() throws {
        let result = try notes("edit", "T", editor: "f() { EDITOR=true notes edit T; printf $? > \"$1\"; }; f")
        #expect(result.code == 0)
        #expect(result.complaint.contains("is editing this note: end that editor first"))
        #expect(try text == "1")
    }

    @Test("says what to do where there is no editor")
    func noEditor() throws {
        let result = try notes("edit", "T", environment: ["PATH": "/nowhere"])
        #expect(result.code == 1)
        #expect(result.complaint.contains("set EDITOR"))
    }
}
