import { bytesToHex, type Hex, hexToBytes, keccak256, recoverMessageAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { createInFlightLimits } from '../../../src/chains/evm/authorization.ts'
import type { EvmDraft } from '../../../src/chains/evm/content.ts'
import { chooseNoopTarget } from '../../../src/chains/evm/prepare/gas.ts'
import { signDraft, signPersonalMessage } from '../../../src/chains/evm/sign.ts'
import type { PooledClient, RpcClient, RpcReply } from '../../../src/chains/rpc/rpc.ts'
import { createSecp256k1Signer } from '../../../src/signers/secp256k1.ts'
import { createTestClock } from '../../support/clock.ts'
import { draftOf, eip1559, FROM, legacy, requestOf } from './build.ts'

/** The first key of the well-known test mnemonic. */
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const signer = createSecp256k1Signer('test', hexToBytes(KEY))
const account = privateKeyToAccount(KEY)

/** The same transaction signed by viem itself. */
function signedByViem(
  { to, value, data, gasLimit, fees }: EvmDraft,
  nonce: number,
  chainId: number,
): Promise<Hex> {
  const content = { chainId, nonce, value, data: data as Hex, gas: gasLimit, ...(to && { to: to as Hex }) }
  return fees.kind === 'legacy'
    ? account.signTransaction({ ...content, type: 'legacy', gasPrice: fees.gasPrice })
    : account.signTransaction({
        ...content,
        type: 'eip1559',
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      })
}

const { to: _, ...creation } = draftOf(eip1559(10n, 1n), { data: '0x6001600101', gasLimit: 60_000n })

const DRAFTS: readonly { name: string; draft: EvmDraft }[] = [
  { name: 'legacy transfer', draft: draftOf(legacy(7n)) },
  { name: 'legacy creation', draft: { ...creation, fees: legacy(7n) } },
  { name: 'EIP-1559 transfer', draft: draftOf(eip1559(10n, 1n)) },
  { name: 'EIP-1559 creation', draft: creation },
  {
    name: 'contract call',
    draft: draftOf(eip1559(10n, 1n), { data: `0xa9059cbb${'00'.repeat(64)}`, value: 0n }),
  },
  { name: 'the largest value', draft: draftOf(eip1559(2n ** 128n, 2n ** 100n), { value: 2n ** 128n - 1n }) },
  { name: 'fees of zero', draft: draftOf(eip1559(0n, 0n)) },
]

const PLACES = [
  { chainId: 1, nonce: 0 },
  { chainId: 137, nonce: 1 },
  { chainId: 31_337, nonce: 127 },
  { chainId: 11_155_111, nonce: 128 },
  { chainId: 4_294_967_295, nonce: 4_294_967_296 },
  // `v` of a legacy transaction is twice the id and more (EIP-155): beyond 2^53 from here on.
  { chainId: 4_503_599_627_370_479, nonce: 3 },
  { chainId: Number.MAX_SAFE_INTEGER, nonce: 4 },
]

describe('signDraft', () => {
  test.each(DRAFTS)('$name: the bytes and the hash are those of viem, on every chain', async ({ draft }) => {
    for (const { chainId, nonce } of PLACES) {
      const want = await signedByViem(draft, nonce, chainId)
      const { raw, hash, signature } = await signDraft({ draft, nonce: BigInt(nonce), chainId }, signer)
      expect(bytesToHex(raw)).toBe(want)
      expect(hash).toBe(keccak256(want))
      expect(signature.v).toBeOneOf(draft.fees.kind === 'legacy' ? [27, 28] : [0, 1])
      expect(BigInt(`0x${signature.s}`)).toBeLessThanOrEqual(HALF_ORDER)
    }
  })

  test('is the same every time: a crash between signing and storing makes no second hash', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => signDraft({ draft: draftOf(eip1559(10n, 1n)), nonce: 5n, chainId: 1 }, signer)),
    )
    expect(first).toEqual(second)
  })
})

describe('signPersonalMessage', () => {
  test.each([
    { name: 'a word', message: 'hello' },
    { name: 'nothing', message: '' },
    { name: 'text that looks like hex is text', message: '0xdeadbeef' },
    { name: 'more than ASCII', message: 'Grüße, 世界 \u{1f511}' },
    { name: 'lines and a zero byte', message: 'a\nb\u0000c' },
    { name: 'a long one', message: 'x'.repeat(100_000) },
  ])('$name: recovers to the account', async ({ message }) => {
    const { r, s, v, sig } = await signPersonalMessage(message, signer)
    expect([r, s].every((part) => /^[0-9a-f]{64}$/.test(part))).toBe(true)
    expect(v).toBeOneOf([27, 28])
    expect(sig).toBe(`${r}${s}${v.toString(16)}`)
    expect(await recoverMessageAddress({ message, signature: `0x${sig}` })).toBe(account.address)
    expect(`0x${sig}`).toBe(await account.signMessage({ message }))
  })
})

const DELEGATED = `0xef0100${'ab'.repeat(20)}`

function nodeWith(code: { value: RpcReply }) {
  const asked: unknown[] = []
  const call: RpcClient['call'] = async (...asking) => {
    asked.push(asking)
    return code.value
  }
  const client: RpcClient & Pick<PooledClient, 'sendEverywhere'> = {
    send: async () => [],
    call,
    sendEverywhere: async (calls) => [
      await Promise.all(
        calls.map(async ({ method, params = [] }) => ({ reply: await call(method, params), behind: false })),
      ),
    ],
  }
  return { client, asked }
}

const result = (value: unknown): RpcReply => ({ kind: 'result', result: value })
const SILENT: RpcReply = { kind: 'unknown', detail: 'time-out' }

describe('a no-op', () => {
  const noop = requestOf({ to: FROM, value: 0n, isNoop: true })

  test.each([
    { name: 'of an account without code goes to itself', code: result('0x'), to: FROM },
    { name: 'of a delegated account runs no code', code: result(DELEGATED), to: `0x${'0'.repeat(40)}` },
  ])('$name', async ({ code, to }) => {
    expect(await chooseNoopTarget(nodeWith({ value: code }).client, noop, {})).toEqual({
      ...noop,
      to,
    })
  })

  test.each([SILENT, result(null)])('runs no code while that of the account is unknown', async (code) => {
    expect(await chooseNoopTarget(nodeWith({ value: code }).client, noop, {})).toMatchObject({
      to: `0x${'0'.repeat(40)}`,
    })
  })

  test('of a private relayer is no command to cancel for a relay', async () => {
    const { client, asked } = nodeWith({ value: result('0x') })
    const answer = await chooseNoopTarget(client, noop, { privateTransactions: true })
    expect([answer, asked]).toEqual([{ ...noop, to: `0x${'0'.repeat(40)}` }, []])
  })

  test('a transfer of the caller to itself stays what it is', async () => {
    const { client, asked } = nodeWith({ value: result(DELEGATED) })
    const own = requestOf({ to: FROM, value: 0n })
    expect(await chooseNoopTarget(client, own, { privateTransactions: true })).toEqual(own)
    expect(asked).toEqual([])
  })
})

describe('the transactions in flight', () => {
  test.each([
    { name: 'without code', code: result('0x'), limit: undefined },
    { name: 'with a contract', code: result('0x6001'), limit: undefined },
    { name: 'delegated', code: result(DELEGATED), limit: 1 },
    { name: 'of which no one tells', code: SILENT, limit: undefined },
  ])('of an account $name: $limit', async ({ code, limit }) => {
    expect(await createInFlightLimits(nodeWith({ value: code }).client, createTestClock())(FROM)).toBe(limit)
  })

  test('are asked for once a minute, and silence changes nothing', async () => {
    const clock = createTestClock()
    const code = { value: result(DELEGATED) }
    const { client, asked } = nodeWith(code)
    const limitOf = createInFlightLimits(client, clock)
    await limitOf(FROM)
    clock.advance(59_999)
    expect([await limitOf(FROM), asked.length]).toEqual([1, 1])
    code.value = SILENT
    clock.advance(1)
    expect([await limitOf(FROM), asked.length]).toEqual([1, 2])
    code.value = result('0x')
    expect(await limitOf(FROM)).toBeUndefined()
  })
})
