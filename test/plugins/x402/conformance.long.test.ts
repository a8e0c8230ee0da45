import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import {
  bodyOf,
  delegatedBy,
  deployFramework,
  type Framework,
  give,
  newDelegator,
  payloadOf,
  requirementsOf,
} from './delegation-payment.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, NETWORK, RELAYER, startEvmSite } from './evm-site.ts'
import { approve, charging, permitBy, placePermit2 } from './permit2-payment.ts'
import { approvalBy } from './signed-approval.ts'
import { createWorld, type TestWorld } from './world.ts'

// What x402's specification demands of facilitators, by the number of its sections: of the protocol (v2), of the schemes on EVM
// (exact, upto), and of the extensions. Its rules on Solana and Stellar have their numbers in the tests of these chains.

/** An account that is nobody's here. */
const ELSEWHERE = '0x4444444444444444444444444444444444444444'

let site: EvmSite
let world: TestWorld
let framework: Framework

beforeAll(async () => {
  site = await startEvmSite()
  await placePermit2(site)
  framework = await deployFramework(site)
  world = createWorld(site.service.url)
}, 60_000)

afterAll(() => site.stop())

const settings = () => readSettings({ ...site.config, timeout_seconds: 20 })
const delegating = () => {
  const [first] = site.config.networks
  const delegations = { managers: [framework.DelegationManager] }
  return readSettings({ networks: [{ ...first, assets: [site.token], delegations }], timeout_seconds: 20 })
}
const ask = (body: unknown) => ({ body, caller: 'shop' })
const soon = () => BigInt(Math.floor(Date.now() / 1000))

/** A payment by EIP-3009 of a new payer. */
const exact = async (parts: object = {}, units?: bigint) =>
  paymentBy(await site.payer(units), { ...site, ...parts })

/** A payment by Permit2, by default of a payer who approved it. */
async function permitted(parts: object = {}, { approves = true, units = 1_000_000n } = {}) {
  const payer = await site.payer(units)
  if (approves) await approve(site, payer)
  return permitBy(payer, { ...site, scheme: 'exact', ...parts })
}

const upto = (parts: object = {}) => permitted({ scheme: 'upto', ...parts })

/** The same request with other requirements, accepted and required. */
function requiring<
  Body extends {
    readonly paymentPayload: { readonly accepted: object }
    readonly paymentRequirements: object
  },
>(body: Body, change: object) {
  const { paymentPayload, paymentRequirements } = body
  return {
    ...body,
    paymentPayload: { ...paymentPayload, accepted: { ...paymentPayload.accepted, ...change } },
    paymentRequirements: { ...paymentRequirements, ...change },
  }
}

type Row = readonly [number: string, demands: string, make: () => Promise<unknown>, reason: string | true]

/** What `/verify` and `/settle` say of each: valid, or the reason. */
const ROWS: readonly Row[] = [
  [
    'v2 5.1.2',
    'another version than 1 and 2 is refused',
    async () => ({ ...(await exact()), x402Version: 3 }),
    'invalid_x402_version',
  ],
  [
    'v2 5.2.2',
    'the payer must have accepted what is required',
    async () => {
      const body = await exact()
      return { ...body, paymentRequirements: { ...body.paymentRequirements, payTo: RECEIVER } }
    },
    'invalid_payment_requirements',
  ],
  [
    'v2 9',
    'a network that is not settled has its own reason',
    async () => requiring(await exact(), { network: 'eip155:8453' }),
    'invalid_network',
  ],
  [
    'v2 9',
    'so has a scheme',
    async () => requiring(await exact(), { scheme: 'deferred' }),
    'unsupported_scheme',
  ],
  [
    'exact-evm 0.1',
    'no method of transfer has to be named',
    async () => requiring(await exact(), { extra: { name: 'Test Dollar', version: '2' } }),
    true,
  ],
  [
    'exact-evm 1.1',
    'the method that is named must be the one of the payload',
    async () =>
      requiring(await exact(), {
        extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' },
      }),
    'invalid_payload',
  ],
  [
    'exact-evm 1.2.1',
    'the signature must be of the payer',
    async () => exact({ sign: async () => `0x${'11'.repeat(64)}1b` }),
    'invalid_exact_evm_payload_signature',
  ],
  ['exact-evm 1.2.2', 'the payer must have as much', async () => exact({}, 9_999n), 'insufficient_funds'],
  [
    'exact-evm 1.2.3',
    'the amount must be what is required',
    async () => exact({ authorization: { value: 9_999n } }),
    'invalid_exact_evm_payload_authorization_value_mismatch',
  ],
  [
    'exact-evm 1.2.3',
    'it must be valid already',
    async () => exact({ authorization: { validAfter: soon() + 600n } }),
    'invalid_exact_evm_payload_authorization_valid_after',
  ],
  [
    'exact-evm 1.2.3',
    'it must not have expired',
    async () => exact({ authorization: { validBefore: soon() - 1n } }),
    'invalid_exact_evm_payload_authorization_valid_before',
  ],
  [
    'exact-evm 1.2.4',
    'it must be signed for this chain',
    async () => exact({ chainId: 1 }),
    'invalid_exact_evm_payload_signature',
  ],
  [
    'exact-evm 1.2.3',
    'the payee must be the one required',
    async () => exact({ payTo: RECEIVER, authorization: { to: site.payTo } }),
    'invalid_exact_evm_payload_recipient_mismatch',
  ],
  [
    'exact-evm 2.2',
    'the proxy must be the spender, so that only the payee is paid',
    async () => {
      const body = await permitted()
      Object.assign(body.paymentPayload.payload.permit2Authorization, { spender: RELAYER })
      return body
    },
    'invalid_permit2_spender',
  ],
  [
    'exact-evm 2.3.1',
    'the signature must be of the payer',
    async () => {
      const body = await permitted()
      Object.assign(body.paymentPayload.payload, { signature: `0x${'11'.repeat(64)}1b` })
      return body
    },
    'invalid_permit2_signature',
  ],
  [
    'exact-evm 2.3.2',
    'without an approval the payer is told that one is required',
    async () => permitted({}, { approves: false }),
    'permit2_allowance_required',
  ],
  [
    'exact-evm 2.3.3',
    'the payer must have as much',
    async () => permitted({}, { units: 9_999n }),
    'insufficient_funds',
  ],
  [
    'exact-evm 2.3.4',
    'the amount must cover the payment',
    async () => requiring(await permitted(), { amount: '10001' }),
    'permit2_amount_mismatch',
  ],
  [
    'exact-evm 2.3.5',
    'the deadline must not have passed',
    async () => permitted({ deadline: soon() - 1n }),
    'permit2_deadline_expired',
  ],
  [
    'exact-evm 2.3.6',
    'the token must be the one required',
    async () => requiring(await permitted(), { asset: RECEIVER }),
    'permit2_token_mismatch',
  ],
  ['exact-evm 2.4.1', 'with an allowance it is settled as it is', async () => permitted(), true],
  [
    'upto 1.2',
    'the facilitator that the payer names must be this one',
    async () => upto({ facilitator: RECEIVER }),
    'upto_facilitator_mismatch',
  ],
  [
    'upto 1.3.4',
    'at the verification, the amount must be the one that was signed',
    async () => requiring(await upto(), { amount: '9999' }),
    'permit2_amount_mismatch',
  ],
  [
    'upto 2',
    'only Permit2 moves a part of an amount',
    async () => requiring(await exact(), { scheme: 'upto' }),
    'invalid_payload',
  ],
  [
    'erc20ApprovalGasSponsoring 2',
    'the spender that is named must be the one in the transaction, and Permit2',
    async () => {
      const payer = await site.payer()
      const body = await permitBy(payer, { ...site, scheme: 'exact' })
      const extensions = await approvalBy(payer, site, { spender: RECEIVER })
      return { ...body, paymentPayload: { ...body.paymentPayload, extensions } }
    },
    'erc20_approval_tx_wrong_spender',
  ],
]

/** A payment by a delegation of a new payer. */
const delegated = async (terms: object = {}, units?: bigint) =>
  delegatedBy(await newDelegator(site, framework, units), framework, { ...site, ...terms })

/** Requires other things than the delegation was made for. */
async function delegatedFor(terms: object) {
  const { paymentPayload } = await delegated(terms)
  return bodyOf(requirementsOf(site), paymentPayload.payload)
}

/** The same of payments by delegation (ERC-7710). */
const DELEGATED_ROWS: readonly Row[] = [
  [
    'exact-evm 3.1',
    'the delegation must be for this facilitator',
    async () => {
      const payer = await newDelegator(site, framework)
      const given = { from: payer.address, to: ELSEWHERE } as const
      const delegation = await give(given, { framework, key: payer.privateKey })
      return bodyOf(requirementsOf(site), payloadOf(framework, [delegation]))
    },
    'invalid_payload',
  ],
  [
    'exact-evm 3.2',
    'the method must be named',
    async () => delegated({ extra: { assetTransferMethod: undefined } }),
    'invalid_payload',
  ],
  [
    'exact-evm 3.2',
    'the method that is named must be the one of the payload',
    async () => requiring(await exact(), requirementsOf(site)),
    'invalid_payload',
  ],
  [
    'exact-evm 3.2',
    'the name and the version of the token do not have to be named',
    async () => delegated({ extra: { name: undefined, version: undefined } }),
    true,
  ],
  [
    'exact-evm 3.2',
    'the delegator must be the account that delegated',
    async () => {
      const body = await delegated()
      Object.assign(body.paymentPayload.payload, { delegator: RECEIVER })
      return body
    },
    'invalid_payload',
  ],
  [
    'exact-evm 3.3.1',
    'the call must be a transfer to the payee',
    async () => delegatedFor({ payTo: RECEIVER }),
    'invalid_exact_evm_transaction_simulation_failed',
  ],
  [
    'exact-evm 3.3.1',
    'the call must be a transfer of the amount',
    async () => delegatedFor({ amount: 9_999n }),
    'invalid_exact_evm_transaction_simulation_failed',
  ],
  [
    'exact-evm 3.3.3',
    'the delegation must be valid',
    async () => {
      const { paymentPayload } = await delegated()
      const { delegator: from } = paymentPayload.payload as { delegator: `0x${string}` }
      const { privateKey: key } = await newDelegator(site, framework, 0n)
      const delegation = await give({ from }, { framework, key })
      return bodyOf(requirementsOf(site), payloadOf(framework, [delegation]))
    },
    'invalid_exact_evm_transaction_simulation_failed',
  ],
  ['exact-evm 3.3.3', 'the payer must have as much', async () => delegated({}, 9_999n), 'insufficient_funds'],
  ['exact-evm 3.4', 'it is settled by a redemption', async () => delegated(), true],
]

async function expectTold(make: Row[2], reason: Row[3], used: ReturnType<typeof settings>): Promise<void> {
  const body = await make()
  const expected = reason === true ? { isValid: true } : { isValid: false, invalidReason: reason }
  // What the payer sends himself, such as an approval, is in a block before.
  await until(
    () => site.anvil.rpc<{ pending: string }>('txpool_status'),
    ({ pending }) => pending === '0x0',
  )
  const before = await site.anvil.rpc('eth_blockNumber')
  expect(await verify(ask(body), used, world)).toMatchObject(expected)
  expect(await site.anvil.rpc('eth_blockNumber')).toBe(before)
  const answer = await settle(ask(body), used, world)
  if (reason === true)
    expect(answer).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x/) })
  else expect(answer).toMatchObject({ success: false, errorReason: reason, transaction: '' })
}

describe('x402’s specification', () => {
  test.each(ROWS)('%s: %s', async (_, __, make, reason) => expectTold(make, reason, settings()), 60_000)

  test.each(DELEGATED_ROWS)(
    '%s: %s',
    async (_, __, make, reason) => expectTold(make, reason, delegating()),
    60_000,
  )

  test('v2 7.3.1: what is supported names kinds, extensions and signers', async () => {
    const told = (await supported(settings(), world)) as { kinds: object[]; signers: object }
    expect(told).toMatchObject({
      kinds: expect.arrayContaining([{ x402Version: 2, scheme: 'exact', network: NETWORK }]),
      extensions: expect.arrayContaining(['payment-identifier', 'eip2612GasSponsoring']),
      signers: { 'eip155:*': [RELAYER] },
    })
  })

  test('upto 1.2: the facilitator announces its address', async () => {
    const { kinds } = (await supported(settings(), world)) as { kinds: object[] }
    expect(kinds).toContainEqual({
      x402Version: 2,
      scheme: 'upto',
      network: NETWORK,
      extra: { facilitatorAddress: RELAYER },
    })
  })

  test('upto 1.4.2: no more than what was signed is settled', async () => {
    expect(await settle(ask(charging(await upto(), 10_001n)), settings(), world)).toMatchObject({
      success: false,
      errorReason: 'invalid_upto_evm_payload_settlement_exceeds_amount',
    })
  })

  test('upto 1.4.1, 1.4.3, 3: the signature is of the whole amount, a part moves, and the answer names it', async () => {
    const before = await site.balanceOf(site.payTo)
    expect(await settle(ask(charging(await upto(), 1_858n)), settings(), world)).toMatchObject({
      success: true,
      amount: '1858',
    })
    expect(await site.balanceOf(site.payTo)).toBe(before + 1_858n)
  }, 60_000)

  test('upto 1.4.4: nothing is sent for an amount of 0', async () => {
    expect(await settle(ask(charging(await upto(), 0n)), settings(), world)).toMatchObject({
      success: true,
      amount: '0',
      transaction: '',
    })
  }, 60_000)

  test('payment-identifier: the same id with the same payload has the same answer, and with another one is a conflict', async () => {
    const extensions = { 'payment-identifier': { info: { required: true, id: 'pay_7d5d747be160e280' } } }
    const payer = await site.payer()
    const body = await paymentBy(payer, { ...site, extensions })
    const first = await settle(ask(body), settings(), world)
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: true,
      transaction: first.transaction,
    })
    const other = await paymentBy(payer, { ...site, extensions })
    await expect(settle(ask(other), settings(), world)).rejects.toMatchObject({ status: 409 })
  }, 60_000)

  test('payment-identifier: an id that is required and missing is a bad request', async () => {
    const extensions = { 'payment-identifier': { info: { required: true } } }
    await expect(verify(ask(await exact({ extensions })), settings(), world)).rejects.toMatchObject({
      status: 400,
    })
  })
})
