// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPTypes

/// How pages look, and what browsers are told about all of them.
enum PageStyle {
    /// Plain, on any width, in light and in dark; colours of text and edges keep the contrasts of
    /// WCAG 2.2 (4.5 and 3 to 1).
    static let sheet = """
        :root{color-scheme:light dark;--back:#f3f4f6;--card:#fff;--ink:#1b1f24;--dim:#57606a;\
        --edge:#6e7781;--line:#d8dee4;--fill:#0b5cad;--over:#084a8c;--on:#fff;--bad:#b3261e}
        @media(prefers-color-scheme:dark){:root{--back:#0f1216;--card:#191e24;--ink:#eef1f4;\
        --dim:#a9b4c0;--edge:#7d8894;--line:#333b44;--fill:#8cc0f7;--over:#b3d6fa;--on:#0b1220;\
        --bad:#ffb4ab}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:grid;grid-template-columns:minmax(0,1fr);\
        place-items:center;padding:1rem;\
        background:var(--back);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;\
        overflow-wrap:anywhere}
        main{width:100%;max-width:28rem;padding:2rem;background:var(--card);\
        border:1px solid var(--line);border-radius:1rem}
        .wide{max-width:64rem}
        h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.25;text-wrap:balance}
        h2{margin:1.5rem 0 .5rem;font-size:1.125rem;line-height:1.25}
        p,ul,ol{margin:0 0 1rem}
        ul,ol{padding-left:1.25rem}
        code,pre{font-size:.9375em}
        pre,.scroll{margin:0 0 1rem;overflow-x:auto;overflow-wrap:normal}
        table{border-collapse:collapse}
        th,td{padding:.5rem 1rem .5rem 0;border-bottom:1px solid var(--line);text-align:left;\
        vertical-align:top}
        .or{margin:0 0 .75rem;color:var(--dim);text-align:center}
        .above{margin:0 0 .25rem;color:var(--dim);font-size:.875rem}
        .hint{margin:-.5rem 0 1rem;color:var(--dim);font-size:.875rem}
        .alert{padding:.75rem 1rem;border:1px solid var(--bad);border-radius:.5rem;color:var(--bad)}
        dl{display:grid;grid-template-columns:auto 1fr;gap:.5rem 1rem;margin:0 0 1.5rem}
        dt{color:var(--dim)}
        dd{margin:0}
        @media(max-width:30rem){body{padding:.5rem}main{padding:1.25rem}\
        dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
        label{display:block;margin-bottom:.25rem;font-weight:600}
        input{width:100%;min-height:2.75rem;margin-bottom:1rem;padding:.5rem .75rem;font:inherit;\
        color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:.5rem}
        .check{display:flex;gap:.5rem;align-items:center;margin:0 0 1rem;font-weight:400}
        .check input{width:1.25rem;min-height:1.25rem;margin:0;accent-color:var(--fill)}
        .rows{padding:0;list-style:none}
        .rows li{padding:.75rem 0;border-top:1px solid var(--line)}
        .rows button{margin:.5rem 0 0}
        button,.button{display:block;width:100%;min-height:2.75rem;margin:0 0 .75rem;\
        padding:.6rem 1rem;font:inherit;font-weight:600;text-align:center;text-decoration:none;\
        color:var(--on);background:var(--fill);border:1px solid var(--fill);border-radius:.5rem;\
        cursor:pointer}
        button:hover,.button:hover{background:var(--over)}
        .second{color:var(--ink);background:var(--card);border-color:var(--edge)}
        .second:hover{background:var(--back)}
        a{color:var(--fill)}
        :focus-visible{outline:3px solid var(--fill);outline-offset:2px}
        footer{margin-top:1.5rem;padding-top:1rem;border-top:1px solid var(--line);\
        color:var(--dim);font-size:.875rem}
        footer form{display:inline}
        footer button{display:inline;width:auto;min-height:1.5rem;margin:0;padding:0;\
        font-weight:400;color:var(--fill);background:none;border:0;text-decoration:underline}
        footer button:hover{background:none}
        """

    /// The header fields of every page: nothing but this style is loaded, nothing runs, nobody
    /// frames it or keeps it, and no link says where it was followed from.
    static let headers: HTTPFields = [
        .contentSecurityPolicy: policy(),
        .referrerPolicy: "no-referrer",
        .cacheControl: "no-store",
        .xContentTypeOptions: "nosniff",
        .frameOptions: "DENY",
        .openerPolicy: "same-origin",
        .resourcePolicy: "same-origin",
        .robotsTag: "noindex",
    ]

    /// Returns what a page may load, run and send forms to.
    ///
    /// - Parameters:
    ///   - script: The only script that runs; nil is none.
    ///   - place: Where the answer to a form may lead beside this server; browsers look at that as well.
    static func policy(script: String? = nil, formsLeadTo place: String? = nil) -> String {
        let scripts = script.map { "script-src 'sha256-\(hash(of: $0))'; " } ?? ""
        return "default-src 'none'; style-src 'sha256-\(hash(of: sheet))'; \(scripts)"
            + "form-action 'self'\(place.map { " \($0)" } ?? ""); base-uri 'none'; "
            + "frame-ancestors 'none'"
    }

    private static func hash(of text: String) -> String {
        Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }
}
