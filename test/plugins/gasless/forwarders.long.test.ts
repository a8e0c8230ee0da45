import { encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { batchOf, forwardBy, signForward, soon } from './sign.ts'
import {
  CHAIN_ID,
  COUNTER,
  countCall,
  type ForwarderName,
  type GaslessSite,
  RELAYER,
  startGaslessSite,
} from './site.ts'

let site: GaslessSite

beforeAll(async () => {
  site = await startGaslessSite()
}, 60_000)
afterAll(() => site.stop())

const KINDS: readonly ForwarderName[] = ['openzeppelin', 'minimal', 'thirdweb', 'thirdweb_chainless']

interface Status {
  readonly status: number
  readonly message?: string
  readonly hash?: string
  readonly receipt?: { readonly transactionHash: string; readonly from: string }
}

const statusOf = async (id: Hex) => (await site.call<Status>('relayer_getStatus', { id })).result as Status
/** Makes blocks until it has ended: a failure is told when its block is final. */
const ended = (id: Hex) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return statusOf(id)
    },
    ({ status }) => status !== 100 && status !== 110,
  )
const increment = (kind: ForwarderName) => ({
  to: site.forwarders[kind].counter,
  data: countCall('increment'),
})

describe.each(KINDS)('a forwarder of the kind %s', (kind) => {
  test('makes the call of a user in a transaction of the relayer', async () => {
    const user = site.user()
    const id = await site.send(await forwardBy(site, kind, user, increment(kind)))
    expect(id).toMatch(/^0x[0-9a-f]{64}$/)
    const { status, receipt } = await ended(id)
    expect(status).toBe(200)
    expect(receipt?.from).toBe(RELAYER)
    expect(await site.countOf(site.forwarders[kind].counter, user.address)).toBe(1n)
  })

  test('is not called with a signature for another forwarder, chain, name or user, or with an old nonce', async () => {
    const user = site.user()
    const refused = async (terms: object) => {
      const { error } = await site.call(
        'relayer_sendTransaction',
        await forwardBy(site, kind, user, { ...increment(kind), ...terms }),
      )
      return error?.code
    }
    expect(await refused({ verifyingContract: site.stranger })).toBe(4201)
    expect(await refused({ chainId: CHAIN_ID + 1 })).toBe(4201)
    expect(await refused({ name: 'Another' })).toBe(4201)
    expect(await refused({ nonce: 1n })).toBe(kind === 'openzeppelin' ? 4201 : 4001)
    const { request, signature } = await signForward(site, kind, site.user(), increment(kind))
    const stolen = await forwardBy(
      site,
      kind,
      { ...user, signTypedData: async () => signature },
      { ...request, gas: 100_000n, deadline: soon() },
    )
    expect((await site.call('relayer_sendTransaction', stolen)).error?.code).toBe(4201)
  })

  test('is not called for what would fail, with value, or with more gas than is paid for', async () => {
    const user = site.user()
    const { counter } = site.forwarders[kind]
    const codeOf = async (terms: object) =>
      (
        await site.call(
          'relayer_sendTransaction',
          await forwardBy(site, kind, user, { ...increment(kind), ...terms }),
        )
      ).error
    expect(await codeOf({ data: countCall('fail') })).toMatchObject({ code: 4211 })
    expect(await codeOf({ value: 1n })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('value'),
    })
    expect(await codeOf({ gas: 1_000_000n })).toMatchObject({
      code: 4207,
      message: expect.stringContaining('gas'),
    })
    expect(await codeOf({ to: site.stranger })).toMatchObject({
      code: 4001,
      message: expect.stringContaining('isTrustedForwarder'),
    })
    expect(await codeOf({ to: RELAYER })).toMatchObject({ code: 4001 })
    expect(await codeOf({ to: site.forwarders[kind].address })).toMatchObject({ code: 4001 })
    const multicall = encodeFunctionData({
      abi: COUNTER,
      functionName: 'multicall',
      args: [[countCall('increment')]],
    })
    expect(await codeOf({ to: counter, data: multicall })).toMatchObject({
      code: 4001,
      message: expect.stringContaining('one by one'),
    })
    expect(await site.countOf(counter, user.address)).toBe(0n)
  })
})

describe('a batch of OpenZeppelin’s forwarder', () => {
  const signed = (user = site.user(), terms: object = {}) =>
    signForward(site, 'openzeppelin', user, { ...increment('openzeppelin'), ...terms })

  test('makes the calls of several users in one transaction, and needs a refund receiver for that', async () => {
    const users = [site.user(), site.user(), site.user()]
    const requests = await Promise.all(users.map((user) => signed(user)))
    const unsafe = batchOf(site, requests, '0x0000000000000000000000000000000000000000')
    expect((await site.call('relayer_sendTransaction', unsafe)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('refundReceiver'),
    })
    const id = await site.send(batchOf(site, requests, RELAYER))
    expect((await ended(id)).status).toBe(200)
    for (const user of users)
      expect(await site.countOf(site.forwarders.openzeppelin.counter, user.address)).toBe(1n)
  })

  test('makes several calls of one user in order', async () => {
    const user = site.user()
    const requests = [await signed(user, { nonce: 0n }), await signed(user, { nonce: 1n })]
    const id = await site.send(batchOf(site, requests, '0x0000000000000000000000000000000000000000'))
    expect((await ended(id)).status).toBe(200)
    expect(await site.countOf(site.forwarders.openzeppelin.counter, user.address)).toBe(2n)
  })

  test('tells a call that failed in the block, although the transaction succeeds', async () => {
    const [good, bad] = [site.user(), site.user()]
    const requests = [await signed(good), await signed(bad, { data: countCall('failInBlock') })]
    const id = await site.send(batchOf(site, requests, RELAYER))
    const { status, message } = await ended(id)
    expect({ status, message }).toEqual({
      status: 500,
      message: 'requests[1]: the call of the user reverted.',
    })
    expect(await site.countOf(site.forwarders.openzeppelin.counter, good.address)).toBe(1n)
  })

  test('is refused with a deadline that comes too soon', async () => {
    const request = await signed(site.user(), { deadline: soon(10) })
    const { error } = await site.call('relayer_sendTransaction', batchOf(site, [request], RELAYER))
    expect(error).toMatchObject({ code: 4001, message: expect.stringContaining('deadline') })
  })
})

describe('a forwarder that carries on after a failed call', () => {
  test.each<[ForwarderName]>([['minimal'], ['thirdweb_chainless']])(
    'of the kind %s is no success without proof',
    async (kind) => {
      const user = site.user()
      const { counter } = site.forwarders[kind]
      const failing = await site.send(
        await forwardBy(site, kind, user, { to: counter, data: countCall('failInBlock') }),
      )
      const silent = await until(
        () => statusOf(failing),
        ({ message }) => message !== undefined,
      )
      expect(silent.status).toBe(110)
      expect(silent.message).toContain('debug_traceTransaction')
      const good = await site.send(
        await forwardBy(site, kind, user, { to: counter, data: countCall('increment') }),
      )
      expect((await ended(good)).status).toBe(200)
    },
  )
})
