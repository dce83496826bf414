"""Reports for other tools: JUnit, SARIF, GitHub."""
