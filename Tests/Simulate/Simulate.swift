// SPDX-License-Identifier: Apache-2.0
import TidebellProcesses

@main
struct Simulate {
    static func main() { say("nothing to simulate yet") }
}
