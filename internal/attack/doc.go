// Package attack has one test, which uses pools at random and in every way at once, and
// then checks that everything is where it must be. attack_test.go has its flags and
// laws.
package attack
