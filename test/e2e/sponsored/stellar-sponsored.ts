import {
  Account,
  Address,
  Asset,
  nativeToScVal,
  Operation,
  scValToBigInt,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import type { Program } from '../../../simulators/stellar/soroban/contracts.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { type Answer, startService } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  RECEIVER,
  type StellarScenario,
  stellarConfig,
  stellarScenarioOf,
  submitTo,
  XLM,
} from '../../support/stellar-scenario.ts'

export const USER = keypairOf('user')
const ISSUER = keypairOf('issuer')
export const USDC = new Asset('USDC', ISSUER.publicKey())
export const USDC_NAME = `USDC:${ISSUER.publicKey()}`

/** The answer to a build. */
export interface StellarBuild {
  readonly transaction: string
  readonly fee_in_token: string
  readonly fee_in_token_ui: string
  readonly fee_in_stroops: string
  readonly fee_token: string
  readonly valid_until: string
  readonly user_auth_entry?: string
  readonly max_fee_in_token?: string
}

/** A relayer whose users pay in tokens, and what the tests say to it. */
export interface SponsoredStellar extends StellarScenario {
  /** The balance in base units of USDC. */
  usdcOf(account: string): bigint
  /** A payment of USDC by the user, without a signature. */
  payment(units: bigint, source?: string): string
  /** Lets accounts of the ledger act without the service. */
  act(keypair: ReturnType<typeof keypairOf>, ...operations: readonly xdr.Operation[]): Promise<void>
  quote(
    body: object,
  ): Promise<Answer<{ fee_in_token: string; conversion_rate: string; max_fee_in_token?: string }>>
  build(body: object): Promise<Answer<StellarBuild>>
}

/** Starts a ledger with USDC: the user has 100, the relayer none. `policies` gets the ledger, whose contracts it may name. */
export async function startSponsoredStellar(
  policiesOf: (ledger: StellarScenario['ledger']) => object,
): Promise<SponsoredStellar> {
  const ledger = await startLedger({ closeEveryMs: 'manual' })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const { url, passphrase } = ledger
  const relayer = { policies: policiesOf(ledger) }
  const service = await startService(stellarConfig({ urls: [url], passphrase, relayer }))
  const scenario = stellarScenarioOf(ledger, service)
  for (const one of [USER, ISSUER]) ledger.fund(one.publicKey(), 100n * XLM)
  const act: SponsoredStellar['act'] = async (keypair, ...operations) => {
    const { sequence } = ledger.account(keypair.publicKey()) ?? { sequence: 0n }
    const builder = new TransactionBuilder(new Account(keypair.publicKey(), String(sequence)), {
      fee: '100',
      networkPassphrase: ledger.passphrase,
    }).setTimeout(0)
    for (const operation of operations) builder.addOperation(operation)
    const transaction = builder.build()
    transaction.sign(keypair)
    const status = await submitTo(ledger, transaction.toXDR())
    if (status !== 'PENDING') throw new Error(`the ledger answered ${status}`)
    ledger.close()
  }
  await act(USER, Operation.changeTrust({ asset: USDC }))
  // The relayer's own transactions pay nothing, also where users do.
  const { id } = await scenario.send({
    network: 'standalone',
    operations: [
      { type: 'change_trust', asset: { type: 'credit4', code: 'USDC', issuer: ISSUER.publicKey() } },
    ],
  })
  await scenario.closeUntil(id, 'confirmed')
  await act(keypairOf('receiver'), Operation.changeTrust({ asset: USDC }))
  await act(ISSUER, Operation.payment({ destination: USER.publicKey(), asset: USDC, amount: '100' }))
  const post = (path: string) => (body: object) =>
    service.api<never>('POST', `/relayers/main/transactions/sponsored/${path}`, body)
  return {
    ...scenario,
    act,
    usdcOf: (account) =>
      ledger.account(account)?.trustlines.find(({ asset }) => JSON.stringify(asset).includes('USDC'))
        ?.balance ?? 0n,
    payment: (units, source = USER.publicKey()) => {
      const { sequence } = ledger.account(source) ?? { sequence: 0n }
      const amount = `${units / XLM}.${String(units % XLM).padStart(7, '0')}`
      return new TransactionBuilder(new Account(source, String(sequence)), {
        fee: '100',
        networkPassphrase: ledger.passphrase,
      })
        .addOperation(Operation.payment({ destination: RECEIVER, asset: USDC, amount }))
        .setTimeout(0)
        .build()
        .toXDR()
    },
    quote: post('quote'),
    build: post('build'),
  }
}

/** Signs an envelope at the user's place. */
export function signAs(envelope: string, keypair: ReturnType<typeof keypairOf>, passphrase: string): string {
  const transaction = TransactionBuilder.fromXDR(envelope, passphrase)
  transaction.sign(keypair)
  return transaction.toXDR()
}

const balanceKey = (owner: xdr.ScVal | undefined) =>
  xdr.ScVal.scvVec([xdr.ScVal.scvSymbol('Balance'), owner ?? xdr.ScVal.scvVoid()])

const amountIn = (value: xdr.ScVal | undefined) => (value === undefined ? 0n : scValToBigInt(value))
const toAmount = (value: bigint) => nativeToScVal(value, { type: 'i128' })
const nameOf = (value: xdr.ScVal | undefined) => Address.fromScVal(value ?? xdr.ScVal.scvVoid()).toString()

/** A token contract (SEP-41), as far as the forwarder uses it; `rich` has some from the beginning. `toll` is what it keeps of each transfer. */
export function tokenProgram(rich: string, toll = () => 0n): Program {
  const first = 1_000_000_000n
  const start = (owner: xdr.ScVal | undefined) => (nameOf(owner) === rich ? first : 0n)
  const move = (
    env: Parameters<Program[string]>[0],
    from: xdr.ScVal | undefined,
    to: xdr.ScVal | undefined,
    by: bigint,
  ) => {
    const has = env.get(balanceKey(from)) === undefined ? start(from) : amountIn(env.get(balanceKey(from)))
    if (has < by) env.trap('balance is not sufficient')
    env.set(balanceKey(from), toAmount(has - by))
    const had = env.get(balanceKey(to)) === undefined ? start(to) : amountIn(env.get(balanceKey(to)))
    const arriving = by - toll()
    env.set(balanceKey(to), toAmount(had + arriving))
    const nobody = xdr.ScVal.scvVoid()
    env.emit([xdr.ScVal.scvSymbol('transfer'), from ?? nobody, to ?? nobody], toAmount(arriving))
  }
  return {
    decimals: () => xdr.ScVal.scvU32(7),
    balance: (env, id) => env.get(balanceKey(id)) ?? toAmount(start(id)),
    approve: (env, from, spender, amount) => {
      env.requireAuth(nameOf(from))
      env.set(
        xdr.ScVal.scvVec([from ?? xdr.ScVal.scvVoid(), spender ?? xdr.ScVal.scvVoid()]),
        amount ?? toAmount(0n),
      )
      return undefined
    },
    transfer: (env, from, to, amount) => {
      env.requireAuth(nameOf(from))
      move(env, from, to, amountIn(amount))
      return undefined
    },
    transfer_from: (env, spender, from, to, amount) => {
      const key = xdr.ScVal.scvVec([from ?? xdr.ScVal.scvVoid(), spender ?? xdr.ScVal.scvVoid()])
      env.requireAuth(nameOf(spender))
      if (amountIn(env.get(key)) < amountIn(amount)) env.trap('allowance is not sufficient')
      env.set(key, toAmount(amountIn(env.get(key)) - amountIn(amount)))
      move(env, from, to, amountIn(amount))
      return undefined
    },
  }
}

/** A FeeForwarder that pays the fee to one of the two. Written from its documentation. */
function forwarderTo(receiver: 'relayer' | 'itself'): Program {
  return {
    forward: (env, feeToken, fee, most, lastLedger, target, name, args, user, relayer) => {
      const all = [feeToken, most, lastLedger, target, name, args].map((one) => one ?? xdr.ScVal.scvVoid())
      env.requireAuth(nameOf(relayer))
      env.requireAuthForArgs(nameOf(user), all)
      if (amountIn(fee) <= 0n || amountIn(fee) > amountIn(most)) env.trap('fee bounds')
      const own = Address.fromString(env.contract).toScVal()
      const [token, from] = [nameOf(feeToken), user ?? own]
      const to = receiver === 'relayer' ? (relayer ?? own) : own
      env.call(token, 'approve', from, own, most ?? toAmount(0n), lastLedger ?? xdr.ScVal.scvU32(0))
      env.call(token, 'transfer_from', own, from, to, fee ?? toAmount(0n))
      const called = name?.type === 'scvSymbol' ? name.sym.toString() : ''
      return env.call(nameOf(target), called, ...(args?.type === 'scvVec' ? (args.vec ?? []) : []))
    },
  }
}

/** The FeeForwarder without permissions: the relayer that sends gets the fee. */
export const FORWARDER: Program = forwarderTo('relayer')

/** One that keeps the fee, like the one with permissions: its owner collects what is on it. */
export const KEEPING_FORWARDER: Program = forwarderTo('itself')

/** A contract that counts the calls of a user, and one that tries to act for another account. */
export const COUNTER: Program = {
  increment: (env, user) => {
    env.requireAuth(nameOf(user))
    const key = xdr.ScVal.scvSymbol('count')
    const count = amountIn(env.get(key) ?? toAmount(0n)) + 1n
    env.set(key, toAmount(count))
    return toAmount(count)
  },
  steal: (env, from, to, token) => {
    env.call(nameOf(token), 'transfer', from ?? xdr.ScVal.scvVoid(), to ?? xdr.ScVal.scvVoid(), toAmount(1n))
    return undefined
  },
}

/** An oracle (SEP-40): a lumen costs 0.1 and the token of any contract 0.25, both now. */
export const ORACLE: Program = {
  decimals: () => xdr.ScVal.scvU32(14),
  lastprice: (env, asset) => {
    const [kind] = asset?.type === 'scvVec' ? (asset.vec ?? []) : []
    const isToken = kind?.type === 'scvSymbol' && kind.sym.toString() === 'Stellar'
    const entries = [
      ['price', toAmount(isToken ? 25_000_000_000_000n : 10_000_000_000_000n)],
      ['timestamp', nativeToScVal(env.closeTime, { type: 'u64' })],
    ] as const
    return xdr.ScVal.scvMap(
      entries.map(([name, val]) => new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol(name), val })),
    )
  },
}
