import { expect, test, vi } from 'vitest'
import { createMemo } from '../../../src/signers/remote/create-remote-key.ts'

test('calls for the same payload share one result, and failures are not kept', async () => {
  const make = vi
    .fn<(payload: Uint8Array) => Promise<number>>()
    .mockRejectedValueOnce(new Error('no'))
    .mockResolvedValue(1)
  const memo = createMemo(make)
  await expect(memo(Uint8Array.of(1))).rejects.toThrow('no')
  expect(await Promise.all([memo(Uint8Array.of(1)), memo(Uint8Array.of(1))])).toEqual([1, 1])
  expect(make).toHaveBeenCalledTimes(2)
  await memo(Uint8Array.of(2))
  expect(make).toHaveBeenCalledTimes(3)
})

test('long payloads are not kept in memory', async () => {
  const MEBIBYTE = 1024 * 1024
  const memo = createMemo(async () => undefined)
  const before = process.memoryUsage().heapUsed
  const payload = new Uint8Array(MEBIBYTE)
  for (let number = 0; number < 200; number += 1) {
    payload[0] = number
    await memo(payload)
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * MEBIBYTE)
})
