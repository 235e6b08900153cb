// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Cells of latitude and longitude, numbered so that cells beside one another mostly have numbers
/// beside one another: a circle is covered by a few ranges of them.
enum GlobeCells {
    /// Bits of a number for each direction; a cell is some centimetres wide.
    private static let depth: UInt64 = 30
    /// The most ranges that one circle is covered by.
    static let mostRanges = 24

    /// Returns the number of the cell that a location on Earth lies in.
    static func cell(of location: WireLocation) -> UInt64 {
        interleaved(
            part(of: location.latitude, from: -90, over: 180),
            part(of: location.longitude, from: -180, over: 360))
    }

    private static func part(of degrees: Double, from start: Double, over width: Double) -> UInt64 {
        let cells = Double(1 << depth)
        let part = (degrees - start) / width * cells
        return UInt64(min(max(part, 0), cells - 1))
    }

    private static func interleaved(_ row: UInt64, _ column: UInt64) -> UInt64 {
        spread(row) << 1 | spread(column)
    }

    /// Puts a zero before each bit.
    private static func spread(_ bits: UInt64) -> UInt64 {
        var bits = bits & 0xFFFF_FFFF
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }

    /// A rectangle of rows and columns.
    private struct Box {
        var rows: ClosedRange<UInt64>
        var columns: ClosedRange<UInt64>
    }

    /// Returns ranges of cells, in order, that all locations on Earth lie in that are nearer than
    /// `radius` metres; and others, too.
    static func ranges(around center: WireLocation, radius: Double) -> [ClosedRange<UInt64>] {
        let boxes = boxes(around: center, radius: radius)
        var found = [root]
        // Divides all cells that are partly outside, until there would be too many.
        var depth: UInt64 = 0
        while depth < Self.depth {
            depth += 1
            let finer = found.flatMap { divided($0) }.filter { cell in
                boxes.contains { $0.rows.overlaps(cell.rows) && $0.columns.overlaps(cell.columns) }
            }
            guard joined(finer).count <= mostRanges, finer.count <= 8 * mostRanges else { break }
            found = finer
        }
        return joined(found)
    }

    private static var root: Square {
        Square(rows: 0...(1 << depth - 1), columns: 0...(1 << depth - 1), first: 0)
    }

    /// Cells that share the first bits of their numbers.
    private struct Square {
        var rows: ClosedRange<UInt64>
        var columns: ClosedRange<UInt64>
        /// The number of its first cell.
        var first: UInt64
        var width: UInt64 { rows.upperBound - rows.lowerBound + 1 }
        var numbers: ClosedRange<UInt64> { first...(first + width * width - 1) }
    }

    private static func divided(_ square: Square) -> [Square] {
        let half = square.width / 2
        guard half > 0 else { return [square] }
        let (row, column) = (square.rows.lowerBound, square.columns.lowerBound)
        return [(0, 0), (0, 1), (1, 0), (1, 1)].map { (down: UInt64, right: UInt64) in
            let (top, left) = (row + down * half, column + right * half)
            return Square(
                rows: top...(top + half - 1), columns: left...(left + half - 1),
                first: square.first + (down * 2 + right) * half * half)
        }
    }

    /// Ranges of squares in order, where those that touch are one.
    private static func joined(_ squares: [Square]) -> [ClosedRange<UInt64>] {
        var ranges: [ClosedRange<UInt64>] = []
        for square in squares {
            let numbers = square.numbers
            if let last = ranges.last, last.upperBound + 1 == numbers.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound...numbers.upperBound
            } else {
                ranges.append(numbers)
            }
        }
        return ranges
    }

    /// The rectangles of degrees that a circle lies in, a little wider than it is: what is computed
    /// of distances is rounded.
    private static func boxes(around center: WireLocation, radius: Double) -> [Box] {
        let angle = radius / WireLocation.earthRadius * (1 + 1e-9) + 1e-9
        let height = angle * 180 / .pi
        let (south, north) = (center.latitude - height, center.latitude + height)
        let rows =
            part(
                of: max(south, -90), from: -90, over: 180)...part(
                of: min(north, 90), from: -90, over: 180)
        let all: ClosedRange<UInt64> = 0...(1 << depth - 1)
        // Beyond a pole lies every longitude.
        guard south > -90, north < 90 else { return [Box(rows: rows, columns: all)] }
        let ratio = sin(angle) / cos(center.latitude * .pi / 180)
        guard ratio < 1 else { return [Box(rows: rows, columns: all)] }
        let width = asin(ratio) * 180 / .pi * (1 + 1e-9) + 1e-9
        func columns(_ west: Double, _ east: Double) -> ClosedRange<UInt64> {
            part(of: west, from: -180, over: 360)...part(of: east, from: -180, over: 360)
        }
        let (west, east) = (center.longitude - width, center.longitude + width)
        var boxes = [Box(rows: rows, columns: columns(max(west, -180), min(east, 180)))]
        if west < -180 { boxes.append(Box(rows: rows, columns: columns(west + 360, 180))) }
        if east > 180 { boxes.append(Box(rows: rows, columns: columns(-180, east - 360))) }
        return boxes
    }
}
