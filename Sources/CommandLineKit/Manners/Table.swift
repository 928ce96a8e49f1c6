/// Rows of cells below headings, aligned by what is seen and not by bytes.
public struct Table: Sendable {
    /// A column.
    public struct Column: Sendable {
        let heading: String
        let isNumeric: Bool
        let isFlexible: Bool

        /// Declares a column.
        ///
        /// - Parameters:
        ///   - heading: What stands above it.
        ///   - isNumeric: Whether its cells are aligned to the right.
        ///   - isFlexible: Whether its cells may be cut where the terminal is too narrow.
        public init(_ heading: String, isNumeric: Bool = false, isFlexible: Bool = false) {
            self.heading = heading
            self.isNumeric = isNumeric
            self.isFlexible = isFlexible
        }
    }

    /// The least width to which a flexible column is cut.
    private static let minimumWidth = 8

    private let columns: [Column]
    private var rows: [[String]] = []
    private var styles: [LineStyle?] = []

    /// Makes a table without rows.
    public init(columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row, with one cell for each column; cells are made printable here.
    ///
    /// - Parameters:
    ///   - cells: What it says.
    ///   - style: How it is set off where ``lines(width:)`` are drawn.
    public mutating func append(_ cells: [String], style: LineStyle? = nil) {
        precondition(cells.count == columns.count, "a row needs a cell for each column")
        rows.append(cells.map(printable))
        styles.append(style)
    }

    /// The table as text.
    ///
    /// - Parameter width: The columns of the terminal; nil where the text goes elsewhere and nothing may be cut.
    public func text(width: Int?) -> String {
        lines(width: width).map { $0.text + "\n" }.joined()
    }

    /// The table as lines, the headings first.
    ///
    /// - Parameter width: The columns of the terminal; nil where the text goes elsewhere and nothing may be cut.
    public func lines(width: Int?) -> [StyledLine] {
        let lines = [columns.map(\.heading)] + rows
        var widths = columns.indices.map { column in lines.map { displayWidth($0[column]) }.max() ?? 0 }
        if let width { shrink(&widths, to: width) }
        return zip(lines, [nil] + styles).map { cells, style in
            let padded = columns.indices.map { pad(cells[$0], to: widths[$0], isNumeric: columns[$0].isNumeric) }
            let line = padded.joined(separator: "  ")
            let end = line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex
            return StyledLine(String(line[..<end]), style: style)
        }
    }

    private func shrink(_ widths: inout [Int], to width: Int) {
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
        for column in columns.indices.reversed() where columns[column].isFlexible && excess > 0 {
            let cut = max(0, min(excess, widths[column] - Self.minimumWidth))
            widths[column] -= cut
            excess -= cut
        }
    }

    private func pad(_ cell: String, to width: Int, isNumeric: Bool) -> String {
        let cell = truncated(cell, toWidth: width)
        let gap = String(repeating: " ", count: max(0, width - displayWidth(cell)))
        return isNumeric ? gap + cell : cell + gap
    }
}
