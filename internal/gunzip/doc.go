// Package gunzip reads data that may or may not be compressed with gzip.
package gunzip
