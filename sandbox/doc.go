// Package sandbox is a stateful double of the Prospecting and Outreach Business API.
package sandbox
