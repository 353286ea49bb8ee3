package dewpond_test

// The first scripts of FuzzBytePool: what pools there are, and then operations, each
// with what it asks for. They do everything once, in a few kinds of pools.
var poolScripts = [][][]byte{
	{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), plainScript()},
	{onePool(0, 1), aKind(1, 2, 2, 1, 0, 0), plainScript()},
	{onePool(0, 3), aKind(0, 1, 0, 2, 3, 3), plainScript(), timeScript()},
	{onePool(0, 4), aKind(3, 3, 3, 0, 1, 2), timeScript(), plainScript()},
	{onePool(0, 2), aKind(2, 5, 0, 0, 0, 1), handleScript(), plainScript()},
	{onePool(0, 2), aKind(1, 0, 0, 1, 0, 1), handleScript(), timeScript()},
	{onePool(2, 2), aKind(0, 0, 0, 2, 2, 2), handleScript(), budgetScript(), timeScript()},
	{twoPools(1, 1), aKind(0, 0, 0, 0, 0, 0), aKind(2, 0, 0, 0, 0, 0), budgetScript(), plainScript()},
	{twoPools(2, 4), aKind(1, 0, 0, 1, 3, 1), aKind(0, 4, 0, 0, 0, 3), budgetScript(), handleScript(), closeScript()},
	{twoPools(2, 1), aKind(3, 0, 0, 0, 0, 0), aKind(0, 0, 0, 2, 0, 2), closeScript(), budgetScript(), handleScript()},
	{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), closeScript(), handleScript(), plainScript()},
	{onePool(0, 1), aKind(0, 0, 0, 0, 0, 0), leaseScript()},
	{onePool(0, 4), aKind(1, 2, 2, 1, 0, 0), leaseScript(), timeScript(), leaseScript()},
	{twoPools(3, 2), aKind(3, 0, 0, 0, 0, 0), aKind(0, 5, 0, 2, 0, 2), leaseScript(), closeScript(), leaseScript()},
	{onePool(1, 2), aKind(0, 0, 0, 0, 0, 0), tryScript(), handleScript()},
	{onePool(0, 1), aKind(1, 0, 0, 1, 2, 0), tryScript(), closeScript()},
	{twoPools(2, 2), aKind(0, 0, 0, 0, 0, 0), aKind(1, 0, 0, 2, 0, 0), tryScript(), tryScript()},
	{onePool(0, 2), aKind(0, 0, 0, 0, 0, 0), adoptScript(), closeScript(), adoptScript()},
	{twoPools(2, 1), aKind(1, 0, 0, 1, 0, 1), aKind(0, 3, 2, 2, 2, 0), adoptScript(), budgetScript(), adoptScript(), closeScript(), adoptScript()},
}

// onePool and twoPools begin a script: with one of four budgets, of which 0 is none,
// and a GOMAXPROCS.
func onePool(budget, procs byte) []byte  { return []byte{0, budget, procs - 1} }
func twoPools(budget, procs byte) []byte { return []byte{1, budget, procs - 1} }

// aKind says what one of the pools is like, see poolsModel.open.
func aKind(classes, maxIdleBytes, maxIdlePerClass, zero, allocLimit, idleTimeout byte) []byte {
	return []byte{classes, maxIdleBytes, maxIdlePerClass, zero, allocLimit, idleTimeout}
}

// Sizes are the class's number times four, and what part of four says: the size itself,
// 1 less, 1 more, 40 less.

func plainScript() []byte {
	return []byte{
		opGet, 0, 0, opGet, 0, 3, opGet, 0, 4, opGet, 0, 14, opGet, 0, 255, opGet, 0, 12,
		opPut, 0, 0, opPut, 0, 9, opGet, 0, 0, opGet, 0, 1,
		opPutWrong, 0, 0, 3, opPutWrong, 0, 1, 1, opPutWrong, 0, 2, 0, 1, opPutWrong, 0, 3, 0, 2, opPutWrong, 0, 5, 0,
		opPutWrong, 0, 1, 4, opPutWrong, 0, 1, 33, opPutWrong, 0, 1, 255, // of a class, at odd addresses
		opPutTwice, 1, opPutTwice, 0,
		opGrow, 0, 0, 200, 4, opGrow, 0, 0, 100, 8, opGrow, 0, 1, 255, 14, opAppend, 0, 0, 77, 5, 0, opAppend, 0, 0, 255, 5, 1, opAppend, 0, 0, 99, 0, 1,
		opPrewarm, 0, 0, 3, opPrewarm, 0, 4, 8, opPrewarm, 0, 14, 1, opTryGet, 0, 0, opTryGet, 0, 5, opTryGet, 0, 14,
		opPut, 3, 2, opPut, 2, 2, opTrim, 0, opPutAll, opGet, 0, 0, opGet, 0, 4, opGet, 0, 0,
		opProcs, 3, opBurst, 0, 3, 11, 0, opBurst, 0, 2, 5, 8, opProcs, 1, opBurst, 0, 1, 9, 4, opTrim, 0,
		opGet, 0, 12, opPutAll, opGet, 0, 12, opPrewarm, 0, 0, 8, opProcs, 5, opGet, 0, 0, opPutAll,
		opReadAll, 0, 0, 1, opReadAll, 0, 255, 1, opReadAll, 0, 4, 0, opReadAll, 0, 14, 1, opPutAll,
	}
}

func timeScript() []byte {
	return []byte{
		opGet, 0, 0, opGet, 0, 0, opGet, 0, 0, opTryGet, 0, 0, opTryGet, 0, 0, opTryGet, 0, 4, opTryGet, 0, 4, opTryGet, 0, 4,
		opGetDeadline, 0, 0, opGetDeadline, 0, 4, opGetCancelled, 0, 0, opGetCancelled, 0, 4, opRest, 2, opTryGet, 0, 0, opRest, 3,
		opPutAll, opGet, 0, 0, opTryGet, 0, 0, opGetCancelled, 0, 0, opRest, 1, opTrim, 0, opPut, 0, 0, opRest, 5,
		opGetBatch, 0, 0, 2, 0, opGetBatch, 0, 0, 5, 1, opGetBatch, 0, 4, 4, 1, opPut, 0, 0, opPut, 0, 0, opGetBatch, 0, 0, 4, 0, opPutAll, opGetBatch, 0, 0, 3, 0, opGetBatch, 0, 255, 2, 1,
		opBurst, 0, 3, 11, 0, opPressure, 1, opRest, 4, opBurst, 0, 3, 11, 4, opPressure, 2, opRest, 4, opGet, 0, 0, opPressure, 0, opPutAll, opRest, 5,
	}
}

func handleScript() []byte {
	return []byte{
		opLease, 0, 0, opLease, 0, 4, opTryLease, 0, 0, opRetain, 0, 0, opRetain, 0, 1, opRelease, 0, 0, opReleaseStale, 0,
		opRelease, 0, 1, opRelease, 0, 0, opReleaseStale, 1, opLease, 0, 1, opReleaseStale, 2, opRelease, 0, 0, opReleaseStale, 0, opLease, 0, 14,
		opBuffer, 0, opBuffer, 1, opBufferWrite, 0, 9, 0, opBufferWrite, 0, 99, 0, opBufferWrite, 0, 0, 1, opBufferWrite, 1, 0, 2, opBufferWrite, 1, 70, 3,
		opBufferRead, 0, 50, opBufferWrite, 0, 60, 0, opBufferCut, 0, 100, opBufferRead, 0, 255, opBufferRelease, 0, 1, opBufferWrite, 0, 64, 0, opBufferWrite, 0, 200, 4, opBufferWrite, 0, 255, 0, opBufferWrite, 0, 255, 1, opBufferRelease, 1, 0,
		opScope, 0, opScopeGet, 0, 0, 0, opScopeGet, 0, 3, 0, opScopeGet, 0, 4, 1, opScopeGet, 0, 1, 0, opScopeGet, 0, 6, 0, opScopeGet, 0, 8, 0, opScopeSlice, 0, 9, opScopeSlice, 0, 255,
		opScopeTryGet, 0, 1, opScopeTryGet, 0, 0, opScopeTryGet, 0, 7, opScopeTryGet, 0, 10, opScope, 1, opScopeTryGet, 1, 3, opScopeGet, 1, 10, 1, opScopeGet, 1, 5, 0, opScopeGet, 1, 7, 0, opScopeGet, 1, 9, 0, opScopeClose, 0,
		opGet, 0, 0, opGet, 0, 8, opScopeClose, 0, opBufferRelease, 0, 0, opTrim, 0, opLease, 0, 0, opReleaseStale, 5,
	}
}

func leaseScript() []byte {
	return []byte{
		opGet, 0, 8, opGet, 0, 0, opGet, 0, 14, opReturn, 0, 7, opReturn, 5, 0, opGet, 0, 0, opGet, 0, 9,
		opLeaseOf, 0, 255, opLeaseOf, 0, 40, opLeaseOf, 0, 0, opLeaseCancelled, 0, 8, opLeaseCancelled, 0, 14,
		opSlice, 0, 0, 0, 64, opSlice, 0, 1, 128, 250, opSlice, 0, 0, 9, 3, opSlice, 1, 0, 0, 255, opTruncate, 0, 0, 16, opTruncate, 0, 4, 255, opSlice, 0, 4, 200, 250, opRetain, 0, 0,
		opTruncate, 1, 0, 128, opTruncate, 1, 1, 100, opRelease, 1, 2, opReleaseStale, 0, opReleaseStale, 1,
		opRelease, 0, 0, opGet, 0, 0, opGet, 0, 4, opRelease, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opGet, 0, 0, opGet, 0, 8, opReleaseStale, 2,
		opLease, 0, 8, opSlice, 0, 0, 10, 200, opTruncate, 0, 0, 100, opLeaseBurst, 0, 0, 3, 7, opRelease, 0, 0, opLease, 0, 4, opLeaseBurst, 0, 0, 1, 3, opGet, 0, 4, opReleaseStale, 7,
		opLeaseWrong, 0, 0, 3, opLeaseWrong, 0, 1, 1, opLeaseWrong, 0, 2, 0, 1, opLeaseWrong, 0, 3, 0, 2, opLeaseWrong, 0, 5, 0, opLeaseWrong, 0, 1, 33, opLeaseWrong, 1, 4, 0, 0, opGet, 0, 0,
		opBuffer, 0, opBufferLease, 0, opBufferWrite, 0, 60, 0, opBufferRead, 0, 20, opBufferLease, 0, opBufferWrite, 0, 99, 0, opSlice, 1, 0, 20, 60, opBufferLease, 0, opBufferRead, 0, 4, opBufferWrite, 0, 255, 0, opBufferLease, 0,
		opRelease, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opTrim, 0, opGet, 0, 0, opRelease, 0, 0, opRelease, 0, 0, opReleaseStale, 3, opLease, 0, 0, opPutAll,
	}
}

func budgetScript() []byte {
	return []byte{
		opGet, 0, 4, opGet, 1, 0, opGet, 1, 4, opPrewarm, 0, 0, 8, opPrewarm, 1, 0, 8, opPut, 0, 0, opPut, 0, 0,
		opTryGet, 0, 8, opTryGet, 0, 8, opTryGet, 0, 8, opTryGet, 0, 8, opTryGet, 0, 4, opTryGet, 1, 4, opTryGet, 1, 12, opTryGet, 0, 12,
		opPutWrong, 0, 4, 0, 0, opPutWrong, 1, 4, 0, 0, opGetDeadline, 0, 8, opGetCancelled, 0, 8, opGetCancelled, 1, 0, opGet, 0, 8, opGet, 0, 12, opPut, 0, 0,
		opPrewarm, 0, 4, 8, opGetDeadline, 1, 0, opTryLease, 0, 4, opTrim, 1, opPut, 1, 0, opPutAll, opTryGet, 1, 4, opTryGet, 0, 8,
		opGetBatch, 0, 4, 5, 0, opGetBatch, 1, 0, 5, 1, opGetBatch, 1, 4, 3, 1, opGetBatch, 0, 12, 2, 0, opGetBatch, 0, 14, 1, 1, opScope, 0, opScopeTryGet, 0, 3, opScopeTryGet, 0, 7, opScopeTryGet, 0, 2, opScopeClose, 0, opPutAll,
	}
}

func adoptScript() []byte {
	return []byte{
		opAdopt, 0, 0, 0, 0, opAdopt, 0, 4, 0, 0, opAdopt, 0, 5, 2, 0, opAdopt, 1, 8, 1, 0, opAdopt, 0, 14, 0, 0, opAdopt, 0, 0, 0, 1, opAdopt, 0, 255, 0, 0, opAdopt, 0, 9, 0, 0,
		opGet, 0, 0, opGet, 0, 4, opPutAll, opBodyPoolGet, 0, opBodyPoolGet, 1, opBodyPoolGet, 0, opBodyPoolPut, 0, 0, opBodyPoolPut, 0, 1, 200, opBodyPoolPut, 0, 1, 40, opBodyPoolGet, 0, opBodyPoolGet, 0,
		opBodyPoolPut, 0, 1, 255, opBodyPoolGet, 0, opTrim, 0, opBodyPoolGet, 0, opBodyPoolPut, 1, 0, opRest, 4, opBodyPoolPut, 0, 0, opBodyPoolGet, 1, opBodyPoolPut, 0, 1, 7,
	}
}

func closeScript() []byte {
	return []byte{
		opGet, 0, 0, opGet, 0, 4, opLease, 0, 0, opBuffer, 0, opBufferWrite, 0, 9, 0, opPut, 0, 0, opClose, 0, 0,
		opGet, 0, 0, opTryGet, 0, 0, opTryGet, 0, 14, opGetCancelled, 0, 0, opGetBatch, 0, 0, 2, 1, opScope, 0, opScopeTryGet, 0, 3, opPrewarm, 0, 0, 2, opTrim, 0, opPut, 0, 0, opPut, 0, 0, opClose, 0, 0,
		opBufferWrite, 0, 99, 0, opRelease, 0, 0, opPutWrong, 0, 0, 3, opGrow, 0, 0, 9, 4, opRest, 3, opGet, 0, 14, opPutAll,
	}
}

func tryScript() []byte {
	return []byte{
		opTryBuffer, 0, opTryBuffer, 0, opBufferWrite, 0, 9, 0, opBufferWrite, 1, 60, 0, opBufferWrite, 0, 99, 0, opBufferWrite, 0, 0, 1, opBufferWrite, 0, 0, 1,
		opBufferWrite, 0, 70, 3, opBufferWrite, 1, 99, 3, opBufferRead, 0, 40, opBufferWrite, 0, 90, 4, opGet, 0, 4, opBufferWrite, 0, 60, 0, opBufferWrite, 0, 0, 2, opBufferWrite, 1, 0, 2,
		opPutAll, opBufferWrite, 0, 60, 0, opBufferWrite, 0, 255, 0, opBufferWrite, 0, 255, 0, opBufferCut, 0, 3, opBufferWrite, 0, 200, 0, opBufferLease, 0, opBufferWrite, 0, 99, 0, opRelease, 0, 0,
		opBufferRelease, 0, 1, opBufferWrite, 0, 50, 0, opBufferRead, 0, 9, opBufferWrite, 0, 30, 4, opClose, 0, 0, opBufferWrite, 0, 5, 0, opBufferWrite, 0, 120, 0, opBufferRelease, 0, 0,
	}
}
