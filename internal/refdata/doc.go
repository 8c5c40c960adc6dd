// Package refdata finds the reference data that some tests read: real databases that are not part of this module.
//
// # What belongs here
//
// Where the data lies, and nothing about what is in it. Only tests import this package.
package refdata
