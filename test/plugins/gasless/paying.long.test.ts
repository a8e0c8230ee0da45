import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex, parseAbi, parseSignature, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PERMIT2 } from '../../../plugins/gasless/fees/payment.ts'
import { until } from '../../support/until.ts'
import { PERMIT_TOKEN_CODE } from '../x402/contract-code.ts'
import { TOKEN } from '../x402/evm-site.ts'
import { SIGNATURE_TRANSFER_CODE } from './contract-code.ts'
import { batchBy, type Call, soon } from './sign.ts'
import {
  CHAIN_ID,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  startGaslessSite,
} from './site.ts'

const COLLECTOR = '0x00000000000000000000000000000000000000fe'
const STRANGER = '0x4444444444444444444444444444444444444444'

/** More than any request here costs. */
const FEE = 10n ** 8n

const ERC20 = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
])
const PERMIT = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
])
const AUTHORIZED = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
const SIGNATURE_TRANSFER = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct TransferDetails { address to; uint256 requestedAmount; }',
  'function permitTransferFrom(PermitTransferFrom permit, TransferDetails details, address owner, bytes signature)',
])

let site: GaslessSite
let token: Hex
/** Nobody pays fees in it. */
let unlisted: Hex

beforeAll(async () => {
  site = await startGaslessSite({
    prepare: async ({ anvil, deploy }) => {
      token = await deploy(PERMIT_TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
      unlisted = await deploy(PERMIT_TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
      await anvil.rpc('anvil_setCode', [PERMIT2, SIGNATURE_TRANSFER_CODE])
    },
    entries: (known) => {
      const price = { sources: [{ type: 'fixed', price: '2000' }] }
      const entry = (id: string, more: object = {}) =>
        pluginEntry(id, {
          networks: [
            networkOf(known, { sponsored: false, fee_tokens: [{ address: token, decimals: 6, price }] }),
          ],
          fee_collector: COLLECTOR,
          ...GENEROUS,
          ...more,
        })
      return [entry('gasless'), entry('strict', { failures: { user: 1 } })]
    },
  })
}, 60_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

const balanceOf = (account: Hex) => site.read(token, TOKEN, 'balanceOf', [account])
const increment = (): Call => ({ to: site.stranger, data: countCall('increment') })
const domain = (verifyingContract: Hex) => ({
  name: 'Test Dollar',
  version: '2',
  chainId: CHAIN_ID,
  verifyingContract,
})

/** A wallet that has tokens, and lets Permit2 spend them. */
async function payer(value = FEE, of = token): Promise<PrivateKeyAccount> {
  const wallet = site.user()
  await site.transact({
    to: of,
    data: encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [wallet.address, value] }),
  })
  await site.anvil.rpc('anvil_setBalance', [wallet.address, '0xde0b6b3a7640000'])
  await site.anvil.rpc('anvil_impersonateAccount', [wallet.address])
  await allow(wallet, PERMIT2, of)
  return wallet
}

function allow({ address }: PrivateKeyAccount, spender: Hex, of = token): Promise<unknown> {
  const data = encodeFunctionData({ abi: ERC20, functionName: 'approve', args: [spender, 10n ** 18n] })
  return site.anvil.rpc('eth_sendTransaction', [{ from: address, to: of, data }])
}

/** What a wallet pays, to whom, and for which account. */
interface Terms {
  readonly to?: Hex
  readonly spender: Hex
  readonly value?: bigint
  readonly of?: Hex
  readonly nonce?: Hex
}

const take = (wallet: PrivateKeyAccount, { to = COLLECTOR, value = FEE, of = token }: Terms): Call => ({
  to: of,
  data: encodeFunctionData({ abi: ERC20, functionName: 'transferFrom', args: [wallet.address, to, value] }),
})

async function permit(wallet: PrivateKeyAccount, { spender, value = FEE, of = token }: Terms): Promise<Call> {
  const deadline = BigInt(soon())
  const signature = await wallet.signTypedData({
    domain: domain(of),
    primaryType: 'Permit',
    types: {
      Permit: ['owner address', 'spender address', 'value uint256', 'nonce uint256', 'deadline uint256'].map(
        field,
      ),
    },
    message: { owner: wallet.address, spender, value, nonce: 0n, deadline },
  })
  const { r, s, v = 27n } = parseSignature(signature)
  const args = [wallet.address, spender, value, deadline, Number(v), r, s] as const
  return { to: of, data: encodeFunctionData({ abi: PERMIT, args }) }
}

async function authorize(wallet: PrivateKeyAccount, terms: Terms): Promise<Call> {
  const { to = COLLECTOR, value = FEE, of = token, nonce = toHex(randomBytes(32)) } = terms
  const validBefore = BigInt(soon())
  const signature = await wallet.signTypedData({
    domain: domain(of),
    primaryType: 'TransferWithAuthorization',
    types: {
      TransferWithAuthorization: [
        'from address',
        'to address',
        'value uint256',
        'validAfter uint256',
        'validBefore uint256',
        'nonce bytes32',
      ].map(field),
    },
    message: { from: wallet.address, to, value, validAfter: 0n, validBefore, nonce },
  })
  const args = [wallet.address, to, value, 0n, validBefore, nonce, signature] as const
  return { to: of, data: encodeFunctionData({ abi: AUTHORIZED, args }) }
}

async function permit2(wallet: PrivateKeyAccount, terms: Terms): Promise<Call> {
  const { to = COLLECTOR, spender, value = FEE, of = token } = terms
  const permitted = { token: of, amount: value }
  const signed = { permitted, nonce: BigInt(terms.nonce ?? toHex(randomBytes(32))), deadline: BigInt(soon()) }
  const signature = await wallet.signTypedData({
    domain: { name: 'Permit2', chainId: CHAIN_ID, verifyingContract: PERMIT2 },
    primaryType: 'PermitTransferFrom',
    types: {
      PermitTransferFrom: [
        'permitted TokenPermissions',
        'spender address',
        'nonce uint256',
        'deadline uint256',
      ].map(field),
      TokenPermissions: ['token address', 'amount uint256'].map(field),
    },
    message: { ...signed, spender },
  })
  const args = [signed, { to, requestedAmount: value }, wallet.address, signature] as const
  return { to: PERMIT2, data: encodeFunctionData({ abi: SIGNATURE_TRANSFER, args }) }
}

function field(text: string): { name: string; type: string } {
  const [name = '', type = ''] = text.split(' ')
  return { name, type }
}

const WAYS: Readonly<Record<string, (wallet: PrivateKeyAccount, terms: Terms) => Promise<readonly Call[]>>> =
  {
    'permit (EIP-2612) and transferFrom': async (wallet, terms) => [
      await permit(wallet, terms),
      take(wallet, terms),
    ],
    'transferWithAuthorization (EIP-3009)': async (wallet, terms) => [await authorize(wallet, terms)],
    "Permit2's permitTransferFrom": async (wallet, terms) => [await permit2(wallet, terms)],
    'transferFrom by an allowance': async (wallet, terms) => {
      await allow(wallet, terms.spender, terms.of)
      return [take(wallet, terms)]
    },
  }

/** A request of a user that begins with these calls. */
async function request(user: PrivateKeyAccount, calls: readonly Call[], terms: object = {}): Promise<object> {
  const content = await batchBy(site, 'gelato', user, [...calls, increment()], terms)
  return { ...content, payment: { type: 'token', address: token } }
}

const refusal = async (content: object, mount?: string) =>
  (await site.call('relayer_sendTransaction', content, mount)).error

const statusOf = async (id: Hex, mount?: string) =>
  (await site.call<{ status: number }>('relayer_getStatus', { id }, mount)).result?.status

const ended = (id: Hex, mount?: string) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return statusOf(id, mount)
    },
    (status) => status !== 100 && status !== 110,
  )

describe.each(Object.entries(WAYS))('A wallet that pays by %s for the account of another key', (_, pay) => {
  test('pays what the request costs, and the fee collector has it', async () => {
    const [user, wallet, before] = [site.user(), await payer(), await balanceOf(COLLECTOR)]
    const content = await request(user, await pay(wallet, { spender: user.address }))
    expect(await ended(await site.send(content))).toBe(200)
    expect((await balanceOf(COLLECTOR)) - before).toBe(FEE)
    expect(await balanceOf(wallet.address)).toBe(0n)
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
  })

  test.each<[string, (spender: Hex) => Promise<Terms>]>([
    ['to somebody else', async (spender) => ({ spender, to: STRANGER })],
    ['too little', async (spender) => ({ spender, value: 1n })],
    ['in a token in which nobody pays', async (spender) => ({ spender, of: unlisted })],
    ['more than it has', async (spender) => ({ spender, value: FEE + 1n })],
  ])('is refused if it pays %s', async (_case, termsFor) => {
    const user = site.user()
    const terms = await termsFor(user.address)
    const calls = await pay(await payer(FEE, terms.of), terms)
    expect([4200, 4211]).toContain((await refusal(await request(user, calls)))?.code)
  })

  test('is refused if its tokens are those of another request that waits', async () => {
    const wallet = await payer()
    const requests: object[] = []
    for (const user of [site.user(), site.user()])
      requests.push(await request(user, await pay(wallet, { spender: user.address })))
    const [first = {}, second = {}] = requests
    await site.anvil.rpc('evm_setAutomine', [false])
    await site.send(first)
    // Nodes that estimate on what waits see it by themselves.
    expect([4001, 4211]).toContain((await refusal(second))?.code)
  })
})

describe('What one wallet has signed for an account', () => {
  test.each(['permit (EIP-2612) and transferFrom', "Permit2's permitTransferFrom"])(
    'by %s cannot pay for another account',
    async (way) => {
      const calls = await WAYS[way]?.(await payer(), { spender: site.user().address })
      expect([4200, 4211]).toContain((await refusal(await request(site.user(), calls ?? [])))?.code)
    },
  )

  test('by EIP-3009 pays for one request at a time, although the wallet has more', async () => {
    const wallet = await payer(FEE * 10n)
    const calls = [await authorize(wallet, { spender: STRANGER })]
    await site.anvil.rpc('evm_setAutomine', [false])
    await site.send(await request(site.user(), calls))
    const error = await refusal(await request(site.user(), calls))
    expect([4001, 4211]).toContain(error?.code)
  })
})

test('A wallet that moves its tokens before the block pays for no request any more that day', async () => {
  const [wallet, user] = [await payer(), site.user()]
  const [first, second] = [user, site.user()]
  await site.anvil.rpc('evm_setAutomine', [false])
  const content = await request(first, [await authorize(wallet, { spender: first.address })])
  const { result } = await site.call('relayer_sendTransaction', content, 'strict')
  await until(
    () => statusOf(result as Hex, 'strict'),
    (status) => status === 110,
  )
  const data = encodeFunctionData({ abi: ERC20, functionName: 'transfer', args: [STRANGER, FEE] })
  const dear = { maxFeePerGas: toHex(10n ** 11n), maxPriorityFeePerGas: toHex(10n ** 11n) }
  await site.anvil.rpc('eth_sendTransaction', [{ from: wallet.address, to: token, data, ...dear }])
  expect(await ended(result as Hex, 'strict')).toBe(500)
  expect(await site.countOf(site.stranger, first.address)).toBe(0n)
  await site.anvil.rpc('evm_setAutomine', [true])
  const mint = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [wallet.address, FEE] })
  await site.transact({ to: token, data: mint })
  const next = await request(second, [await authorize(wallet, { spender: second.address })])
  expect(await refusal(next, 'strict')).toMatchObject({ code: 4203 })
})
