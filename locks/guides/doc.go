// Package guides has the Examples that the guides show. The guides are the Markdown pages of this
// folder: locks/guides/README.md is their index.
package guides
