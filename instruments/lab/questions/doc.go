// Package questions has the six questions with which “为何最终我放弃了 Go 的 sync.Pool”
// (https://developer.aliyun.com/article/1718728) lets its readers test themselves, with answers. Each answer
// is shown by an example or a test of the same number: go test -v ./instruments/lab/questions.
//
//  1. What is sync.Pool for, and why does it relieve the collector? It keeps objects that are not in use, so
//     that the next caller need not allocate. What is not allocated is not garbage, and the collector runs
//     less often. It does not make a collection shorter.
//  2. When is New called? When Get finds nothing: in the first Get, when more is out than was ever put back,
//     and after two collections without use. Never by Put, and never in advance.
//  3. Why must an object from a pool be reset? The pool hands out what was put in, as it was put in: without a
//     reset the next caller reads what the last one wrote.
//  4. Why must putUser clear every field? json.Unmarshal sets only the fields that are in the input: one that
//     was forgotten, and is absent from the next request, shows a user another one's value.
//  5. Why Reset all the same, when the fields are cleared? A buffer is not cleared by its owner's fields:
//     Reset sets its length to none and keeps its capacity, which is what the pool is for. A new zero value
//     would throw the memory away; no reset would append to what is there.
//  6. Why is sync.Pool no ordinary cache, and what is the life of what is in it? Nothing can be looked up in
//     it, Get returns any object, and what lies there unused goes with the second collection after its Put. It
//     has no size, no expiry by time and no notice.
package questions
