# SPDX-License-Identifier: Apache-2.0
"""/openapi.json is held against what the server does, by schemathesis: no failure of the server, no status,
content type or body that is not described, no answer that does not come."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import CONTAINER, Server

# Seconds of generated requests; SCHEMATHESIS_SECONDS=600 looks longer.
SECONDS = os.environ.get("SCHEMATHESIS_SECONDS", "60")
SEED = os.environ.get("SCHEMATHESIS_SEED", "1")


class OpenAPITests(unittest.TestCase):
    def test_server_does_what_is_described(self):
        server = Server()
        self.addCleanup(server.close)
        with tempfile.TemporaryDirectory() as folder:
            configuration = pathlib.Path(folder, "schemathesis.toml")
            # Most requests are of a user in a container; some names of both are made up.
            configuration.write_text(f"""
                [auth.openapi]
                ckAPIToken = {{ api_key = "{server.api_token}" }}
                ckWebAuthToken = {{ api_key = "{server.web_token}" }}
                [parameters]
                "path.container" = "{CONTAINER}"
                "path.environment" = "development"
            """)
            run = subprocess.run(
                [str(pathlib.Path(sys.executable).parent / "schemathesis"),
                 "--config-file", str(configuration), "run", server.url + "/openapi.json",
                 "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
                 "response_schema_conformance",
                 # Two hold a request until something happens; the third ends the session of all others.
                 "--exclude-path-regex", "/courier/|/notifications/stream|/account/signOut",
                 "--phases", "coverage,fuzzing", "--max-time", SECONDS, "--seed", SEED,
                 "--request-timeout", "30", "--continue-on-failure", "--no-color",
                 "--suppress-health-check", "all"],
                text=True, capture_output=True, cwd=folder, timeout=int(SECONDS) * 4 + 300)
        self.assertEqual(run.returncode, 0, run.stdout[-20000:] + run.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
