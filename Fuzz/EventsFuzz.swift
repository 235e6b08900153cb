// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A stream of server-sent events: where the chunks are cut must not matter, and what an
/// event has must fit the bounds. The first byte is the length of the chunks.
func fuzzEvents(_ input: [UInt8]) {
    guard let length = input.first.map({ Int($0 % 16) + 1 }) else { return }
    let stream = Array(input.dropFirst())
    let whole = events([stream])
    let chunks = stride(from: 0, to: stream.count, by: length).map { start in
        Array(stream[start..<min(start + length, stream.count)])
    }
    require(events(chunks) == whole, "cutting a stream changes nothing")
    for event in whole.events {
        require(
            event.data.utf8.count <= ServerSentEventParser.maximumDataLength, "data has a bound")
        require(!(event.id ?? "").unicodeScalars.contains("\0"), "an ID has no null character")
    }
}

private struct Outcome: Equatable {
    var events: [ServerSentEvent] = []
    var error: ServerSentEventError?
}

/// NB: an error loses the events of its chunk; so none count then.
private func events(_ chunks: [[UInt8]]) -> Outcome {
    var parser = ServerSentEventParser()
    var outcome = Outcome()
    for chunk in chunks {
        do {
            outcome.events += try parser.consume(chunk)
        } catch {
            return Outcome(error: error)
        }
    }
    return outcome
}
