import {
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  parseAbi,
  serializeErc6492Signature,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { FACTORY_CODE, GREEDY_WALLET_CODE, MULTICALL_CODE, TOKEN_CODE, WALLET_CODE } from './contract-code.ts'
import { type PaymentParts, paymentBy } from './evm-payment.ts'
import { type EvmSite, FUNDS, RELAYER, startEvmSite, TOKEN } from './evm-site.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld

beforeAll(async () => {
  site = await startEvmSite()
  world = createWorld(site.service.url)
}, 60_000)

afterAll(() => site.stop())

const settings = (network: object = {}, more: object = {}) => {
  const [first] = site.config.networks
  return readSettings({ networks: [{ ...first, ...network }], timeout_seconds: 10, ...more })
}
const ask = (body: unknown) => ({ body, caller: 'shop' })
const soon = () => BigInt(Math.floor(Date.now() / 1000))

type Request = Awaited<ReturnType<typeof paymentBy>>

/** Changes a request at one place, as a careless or hostile sender would. */
function changed(request: Request, change: (copy: Record<string, never> & Request) => void): object {
  const copy = structuredClone(request) as never
  change(copy)
  return copy
}

/** Each reason, with a payment that is refused for it. */
const REFUSALS: readonly (readonly [string, string, (payment: Make) => Promise<unknown>])[] = [
  ['invalid_payload', 'is no object', async () => 'pay me'],
  ['invalid_payload', 'has no payment', async () => ({ x402Version: 2 })],
  [
    'invalid_payload',
    'has no signature',
    (make) => make({}, (copy) => Reflect.deleteProperty(copy.paymentPayload.payload, 'signature')),
  ],
  [
    'invalid_payload',
    'has a nonce of the wrong length',
    (make) => make({}, (copy) => Object.assign(copy.paymentPayload.payload.authorization, { nonce: '0x12' })),
  ],
  [
    'invalid_payload',
    'has a value beyond 256 bits',
    (make) =>
      make({}, (copy) =>
        Object.assign(copy.paymentPayload.payload.authorization, { value: (2n ** 256n).toString() }),
      ),
  ],
  ['invalid_payload', 'pays the payer', (make) => make({ payTo: 'payer' })],
  [
    'invalid_payload',
    'is signed for another method of transfer',
    (make) =>
      make({
        requirements: { extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' } },
      }),
  ],
  ['invalid_payment_requirements', 'has no amount', (make) => make({ requirements: { amount: undefined } })],
  [
    'invalid_payment_requirements',
    'has an amount of zero',
    (make) => make({ requirements: { amount: '0' } }),
  ],
  ['invalid_payment_requirements', 'has no EIP-712 domain', (make) => make({ requirements: { extra: {} } })],
  [
    'invalid_payment_requirements',
    'was accepted for another amount',
    (make) => make({ accepted: { amount: '9999' } }),
  ],
  [
    'invalid_payment_requirements',
    'was accepted for another payee',
    (make) => make({ accepted: { payTo: RELAYER } }),
  ],
  ['invalid_payment_requirements', 'names an account as the token', (make) => make({ token: 'account' })],
  [
    'invalid_x402_version',
    'has version 3',
    (make) => make({}, (copy) => Object.assign(copy, { x402Version: 3 })),
  ],
  [
    'invalid_x402_version',
    'has two versions',
    (make) => make({}, (copy) => Object.assign(copy.paymentPayload, { x402Version: 1 })),
  ],
  ['invalid_scheme', 'has another scheme than is required', (make) => make({ accepted: { scheme: 'upto' } })],
  [
    'unsupported_scheme',
    'has a scheme that is not settled',
    (make) => make({ requirements: { scheme: 'upto' } }),
  ],
  [
    'invalid_network',
    'is on a network that is not settled',
    (make) => make({ requirements: { network: 'eip155:1' } }),
  ],
  [
    'invalid_network',
    'was accepted for another network',
    (make) => make({ accepted: { network: 'eip155:1' } }),
  ],
  [
    'invalid_exact_evm_payload_recipient_mismatch',
    'pays someone else',
    (make) => make({ authorization: { to: RELAYER } }),
  ],
  [
    'invalid_exact_evm_payload_authorization_value_mismatch',
    'is for less',
    (make) => make({ authorization: { value: 9_999n } }),
  ],
  [
    'invalid_exact_evm_payload_authorization_value_mismatch',
    'is for more',
    (make) => make({ authorization: { value: 10_001n } }),
  ],
  [
    'invalid_exact_evm_payload_authorization_valid_after',
    'is not valid yet',
    (make) => make({ authorization: { validAfter: soon() + 60n } }),
  ],
  [
    'invalid_exact_evm_payload_authorization_valid_before',
    'has expired',
    (make) => make({ authorization: { validBefore: soon() - 1n } }),
  ],
  [
    'invalid_exact_evm_payload_authorization_valid_before',
    'expires before a block can include it',
    (make) => make({ authorization: { validBefore: soon() + 4n } }),
  ],
  [
    'invalid_exact_evm_payload_signature',
    'is signed by someone else',
    (make) => make({ signer: 'stranger' }),
  ],
  [
    'invalid_exact_evm_payload_signature',
    'has a signature of the wrong length',
    (make) => make({ sign: async () => '0x1234' }),
  ],
  [
    'invalid_exact_evm_payload_signature',
    'is signed for another name of the token',
    (make) => make({ requirements: { extra: { name: 'Real Dollar', version: '2' } } }),
  ],
  [
    'invalid_exact_evm_transaction_simulation_failed',
    'has a copy of a signature with the other s',
    (make) => make({ malleable: true }),
  ],
  ['insufficient_funds', 'is for more than the payer has', (make) => make({ amount: FUNDS + 1n })],
  [
    'invalid_exact_evm_transaction_simulation_failed',
    'is in a token that takes a part of each transfer',
    (make) => make({ token: 'taking' }),
  ],
  [
    'unsupported_asset',
    'is in a token that the operator does not list',
    (make) => make({}, undefined, { network: { assets: [RELAYER] } }),
  ],
  [
    'payee_not_allowed',
    'pays someone whom the operator does not list',
    (make) => make({}, undefined, { more: { payees: [RELAYER] } }),
  ],
]

interface MakeParts extends Omit<Partial<PaymentParts>, 'token' | 'payTo'> {
  readonly token?: 'account' | 'taking'
  readonly payTo?: 'payer'
  readonly signer?: 'stranger'
  readonly malleable?: true
}

interface Made {
  readonly body: unknown
  readonly network?: object
  readonly more?: object
}

type Make = (
  parts: MakeParts,
  change?: (copy: Request) => unknown,
  config?: Omit<Made, 'body'>,
) => Promise<Made>

let taking: Promise<Hex> | undefined

const make: Make = async ({ token, payTo, signer, malleable, ...parts }, change, config = {}) => {
  const payer = await site.payer()
  taking ??= site.deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 1n])
  const at = token === 'account' ? RELAYER : token === 'taking' ? await taking : site.token
  if (token === 'taking') await site.mint(payer.address, FUNDS, at)
  const stranger = privateKeyToAccount(generatePrivateKey())
  const sign: PaymentParts['sign'] = malleable
    ? async (data) => otherS(await payer.signTypedData(data as never))
    : signer && ((data) => stranger.signTypedData(data as never))
  const request = await paymentBy(payer, {
    token: at,
    payTo: payTo === 'payer' ? payer.address : site.payTo,
    ...(sign && { sign }),
    ...parts,
  })
  return { body: change ? changed(request, change as never) : request, ...config }
}

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature that recovers to the same key, which anyone can calculate. */
function otherS(signature: Hex): Hex {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}` as Hex
}

describe('a payment on an EVM chain that', () => {
  test.each(REFUSALS)('is refused as %s if it %s', async (reason, _, pay) => {
    const made = await pay(make)
    const { body, network, more } = (
      typeof made === 'object' && made !== null && 'body' in made ? made : { body: made }
    ) as Made
    const used = settings(network, more)
    const sent = await site.service.api<unknown[]>('GET', '/relayers/main/transactions?per_page=100')
    expect(await verify(ask(body), used, world)).toMatchObject({
      isValid: false,
      invalidReason: reason,
      invalidMessage: expect.stringMatching(/\.$/),
    })
    expect(await settle(ask(body), used, world)).toMatchObject({
      success: false,
      errorReason: reason,
      transaction: '',
    })
    const after = await site.service.api<unknown[]>('GET', '/relayers/main/transactions?per_page=100')
    expect(after.body.pagination).toEqual(sent.body.pagination)
  })
})

const WALLET = parseAbi(['constructor(address owner)'])
const FACTORY = parseAbi(['function create(address owner, bytes32 salt) returns (address)'])

describe('a payer that is a contract', () => {
  test('pays with a signature of its owner', async () => {
    const owner = await site.payer(0n)
    const wallet = await site.deploy(WALLET_CODE, WALLET, [owner.address])
    await site.mint(wallet, FUNDS)
    const body = await paymentBy(owner, { ...site, authorization: { from: wallet } })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: true,
      payer: wallet.toLowerCase(),
    })
    expect(await site.balanceOf(wallet)).toBe(FUNDS - 10_000n)
  })

  test('is refused with a signature of someone else', async () => {
    const owner = await site.payer(0n)
    const wallet = await site.deploy(WALLET_CODE, WALLET, [RELAYER])
    await site.mint(wallet, FUNDS)
    const body = await paymentBy(owner, { ...site, authorization: { from: wallet } })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      errorReason: 'invalid_exact_evm_payload_signature',
    })
  })

  test('is refused if it burns more gas than the operator pays for', async () => {
    const wallet = await site.deploy(GREEDY_WALLET_CODE)
    await site.mint(wallet, FUNDS)
    const body = await paymentBy(await site.payer(0n), { ...site, authorization: { from: wallet } })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      errorReason: 'invalid_exact_evm_transaction_simulation_failed',
      errorMessage: expect.stringContaining('at most 500000 are paid for'),
    })
  })

  test('is created in the settlement by a factory that the operator lists, and refused otherwise', async () => {
    await site.anvil.rpc('anvil_setCode', ['0xcA11bde05977b3631167028862bE2a173976CA11', MULTICALL_CODE])
    const factory = await site.deploy(FACTORY_CODE)
    const owner = await site.payer(0n)
    const salt = keccak256(toHex('a wallet'))
    const bytecode =
      `${WALLET_CODE}${encodeAbiParameters([{ type: 'address' }], [owner.address]).slice(2)}` as Hex
    const wallet = getContractAddress({ from: factory, salt, bytecode, opcode: 'CREATE2' })
    await site.mint(wallet, FUNDS)
    const data = encodeFunctionData({ abi: FACTORY, functionName: 'create', args: [owner.address, salt] })
    const sign = async (typedData: object) =>
      serializeErc6492Signature({
        address: factory,
        data,
        signature: await owner.signTypedData(typedData as never),
      })
    const body = await paymentBy(owner, { ...site, authorization: { from: wallet }, sign })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      errorReason: 'eip6492_factory_not_allowed',
    })
    const listed = settings({ wallet_factories: [factory] })
    const first = await settle(ask(body), listed, world)
    expect(first).toMatchObject({ success: true, payer: wallet.toLowerCase() })
    expect(await settle(ask(body), listed, world)).toMatchObject({
      success: true,
      transaction: first.transaction,
    })
    expect(await site.balanceOf(wallet)).toBe(FUNDS - 10_000n)
  })
})
