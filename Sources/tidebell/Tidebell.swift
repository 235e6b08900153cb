// SPDX-License-Identifier: Apache-2.0
@main
struct Tidebell {
    static func main() {}
}
