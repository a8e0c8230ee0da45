import {
  Account,
  Address,
  authorizeEntry,
  Contract,
  nativeToScVal,
  scValToBigInt,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keypairOf, MAIN } from '../../support/stellar-scenario.ts'
import {
  COUNTER,
  FORWARDER,
  KEEPING_FORWARDER,
  ORACLE,
  type SponsoredStellar,
  type StellarBuild,
  startSponsoredStellar,
  tokenProgram,
  USER,
} from './stellar-sponsored.ts'
import { createWasm } from './wasm.ts'

let scenario: SponsoredStellar
let toll = 0n
let contracts: Readonly<Record<'token' | 'odd' | 'forwarder' | 'counter', string>>

beforeAll(async () => {
  scenario = await startSponsoredStellar((ledger) => {
    const oracle = ledger.contract(ORACLE, createWasm(1))
    contracts = {
      token: ledger.contract(
        tokenProgram(USER.publicKey(), () => toll),
        createWasm(2),
      ),
      odd: ledger.contract(
        { ...tokenProgram(USER.publicKey()), decimals: () => nativeToScVal(4_000_000_000, { type: 'u32' }) },
        createWasm(5),
      ),
      forwarder: ledger.contract(FORWARDER, createWasm(3)),
      counter: ledger.contract(COUNTER, createWasm(4)),
    }
    return {
      fee_payment_strategy: 'user',
      max_fee: 50_000_000,
      fee_forwarder: contracts.forwarder,
      allowed_tokens: [
        {
          asset: contracts.token,
          price: {
            sources: [
              { type: 'oracle', contract: oracle, native: 'XLM', token: contracts.token },
              { type: 'fixed', price: '0.401' },
            ],
          },
        },
        { asset: contracts.odd, price: { sources: [{ type: 'fixed', price: '1' }] } },
      ],
    }
  })
}, 60_000)
afterAll(() => scenario.stop())

/** A call of the counter by the user, as its wallet makes it. */
function call(name: string, ...args: readonly xdr.ScVal[]): string {
  const { sequence } = scenario.ledger.account(USER.publicKey()) ?? { sequence: 0n }
  return new TransactionBuilder(new Account(USER.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: scenario.ledger.passphrase,
  })
    .addOperation(new Contract(contracts.counter).call(name, ...args))
    .setTimeout(0)
    .build()
    .toXDR()
}

const addressOf = (account: string) => Address.fromString(account).toScVal()
const increment = () => ({
  transaction_xdr: call('increment', addressOf(USER.publicKey())),
  fee_token: contracts.token,
})

async function built(): Promise<StellarBuild> {
  const { status, body } = await scenario.build(increment())
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}

/** Signs the authorization as a wallet does: with its own last ledger. */
async function authorized(
  { user_auth_entry = '' }: StellarBuild,
  { keypair = USER, ledgers = 60 } = {},
): Promise<string> {
  const entry = xdr.SorobanAuthorizationEntry.fromXDR(user_auth_entry, 'base64')
  const last = (scenario.ledger.ledgers.at(-1)?.sequence ?? 0) + ledgers
  return (await authorizeEntry(entry, keypair, last, scenario.ledger.passphrase)).toXDR('base64')
}

const send = (transaction_xdr: string, signed_auth_entry: string) => ({
  network: 'standalone',
  transaction_xdr,
  signed_auth_entry,
})
const lumens = () => scenario.ledger.account(MAIN.publicKey())?.balance ?? 0n

async function tokensOf(account: string): Promise<bigint> {
  const operation = new Contract(contracts.token).call('balance', addressOf(account))
  const tx = new TransactionBuilder(new Account(account, '1'), {
    fee: '100',
    networkPassphrase: scenario.ledger.passphrase,
  })
    .addOperation(operation)
    .setTimeout(0)
    .build()
  const answer = await fetch(scenario.ledger.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'simulateTransaction',
      params: { transaction: tx.toXDR() },
    }),
  })
  const { result } = (await answer.json()) as { result: { results: { xdr: string }[] } }
  return scValToBigInt(xdr.ScVal.fromXDR(result.results[0]?.xdr ?? '', 'base64'))
}

async function earned(): Promise<bigint> {
  const day = 86_400_000
  const [from, to] = [Date.now() - day, Date.now() + day].map((time) => new Date(time).toISOString())
  const report = await scenario.service.api<{ asset: string; earned: string; unknown_earned: number }[]>(
    'GET',
    `/reports/spending?from=${from}&to=${to}`,
  )
  expect(report.body.data.map((row) => row.unknown_earned)).not.toContain(1)
  return BigInt(report.body.data.find(({ asset }) => asset === contracts.token)?.earned ?? 0)
}

describe('the call of a contract', () => {
  test('is paid in tokens through the forwarder; the user signs one authorization', async () => {
    const quote = await scenario.quote(increment())
    expect(quote.body.data).toMatchObject({ conversion_rate: '0.401', max_fee_in_token: expect.any(String) })
    const before = [lumens(), await tokensOf(USER.publicKey())] as const
    const build = await built()
    const fee = BigInt(build.fee_in_token)
    expect(BigInt(build.max_fee_in_token ?? 0)).toBe(fee)
    const body = send(build.transaction, await authorized(build))
    const { id } = await scenario.send(body)
    expect(await scenario.post(body)).toMatchObject({ status: 400, body: { code: 'already_accepted' } })
    await scenario.closeUntil(id, 'confirmed')
    expect(await tokensOf(MAIN.publicKey())).toBe(fee)
    expect(await tokensOf(USER.publicKey())).toBe(before[1] - fee)
    expect(before[0] - lumens()).toBeLessThanOrEqual(BigInt(build.fee_in_stroops))
  })

  test('of which less arrives than was quoted is reported with what arrived', async () => {
    const before = await earned()
    const had = await tokensOf(MAIN.publicKey())
    const build = await built()
    const { id } = await scenario.send(send(build.transaction, await authorized(build)))
    await scenario.reach(id, 'submitted')
    // The token takes its toll only in the block.
    toll = 5n
    await scenario.closeUntil(id, 'confirmed')
    toll = 0n
    const arrived = (await tokensOf(MAIN.publicKey())) - had
    expect(arrived).toBe(BigInt(build.fee_in_token) - 5n)
    expect((await earned()) - before).toBe(arrived)
  })

  test('cannot use the account of the relayer, whatever the user calls', async () => {
    const steal = call(
      'steal',
      addressOf(MAIN.publicKey()),
      addressOf(USER.publicKey()),
      addressOf(contracts.token),
    )
    const { status, body } = await scenario.build({ transaction_xdr: steal, fee_token: contracts.token })
    expect([status, body.code]).toEqual([400, 'fee_payer_at_risk'])
  })

  test('of which the user changed the payment is refused', async () => {
    const build = await built()
    const bytes = Buffer.from(build.transaction, 'base64')
    const amount = nativeToScVal(BigInt(build.fee_in_token), { type: 'i128' }).toXDR()
    const at = bytes.indexOf(amount)
    expect(at).toBeGreaterThan(0)
    bytes.set(nativeToScVal(1n, { type: 'i128' }).toXDR(), at)
    const answer = await scenario.post(send(bytes.toString('base64'), await authorized(build)))
    expect(answer).toMatchObject({ status: 400, body: { code: 'payment_required' } })
  })

  test.each<[string, (build: StellarBuild) => Promise<object>, RegExp]>([
    [
      'by another account',
      async (build) => send(build.transaction, await authorized(build, { keypair: keypairOf('other') })),
      /simulation failed|authorization/,
    ],
    [
      'that is none',
      async (build) => send(build.transaction, 'AAAA'),
      /^signed_auth_entry: a SorobanAuthorizationEntry/,
    ],
    ...[0, 1, 2].map((ledgers): [string, (build: StellarBuild) => Promise<object>, RegExp] => [
      `that ends ${ledgers} ledgers after the newest one`,
      async (build) => send(build.transaction, await authorized(build, { ledgers })),
      /^signed_auth_entry: an authorization that is valid at least until ledger/,
    ]),
    [
      'with a fee bump',
      async (build) => ({ ...send(build.transaction, await authorized(build)), fee_bump: true }),
      /signed_auth_entry, fee_bump/,
    ],
    [
      'of its own source',
      async (build) => {
        const entry = xdr.SorobanAuthorizationEntry.fromXDR(build.user_auth_entry ?? '', 'base64')
        const { rootInvocation } = entry
        const credentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount()
        return send(
          build.transaction,
          new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation }).toXDR('base64'),
        )
      },
      /^signed_auth_entry: an authorization by G/,
    ],
  ])('with an authorization %s is refused, and costs nothing', async (_name, body, error) => {
    const before = lumens()
    const answer = await scenario.post(await body(await built()))
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(error) } })
    expect(lumens()).toBe(before)
  })

  test('is included in no ledger after the last one of its authorization', async () => {
    const build = await built()
    const before = lumens()
    const { id } = await scenario.send(send(build.transaction, await authorized(build, { ledgers: 5 })))
    const last = (scenario.ledger.ledgers.at(-1)?.sequence ?? 0) + 5
    const final = await scenario.closeUntil(id, 'confirmed')
    const { v1 } = xdr.TransactionEnvelope.fromXDR(
      final.transaction_xdr ?? '',
      'base64',
    ) as xdr.TransactionEnvelopeTx
    expect(v1.tx.cond).toMatchObject({ v2: { ledgerBounds: { maxLedger: last + 1 } } })
    expect(before - lumens()).toBeLessThanOrEqual(BigInt(build.fee_in_stroops))
  })

  test('by a user without the token is refused in words', async () => {
    const poor = keypairOf('poor')
    scenario.ledger.fund(poor.publicKey(), 100_000_000n)
    const { sequence } = scenario.ledger.account(poor.publicKey()) ?? { sequence: 0n }
    const transaction_xdr = new TransactionBuilder(new Account(poor.publicKey(), String(sequence)), {
      fee: '100',
      networkPassphrase: scenario.ledger.passphrase,
    })
      .addOperation(new Contract(contracts.counter).call('increment', addressOf(poor.publicKey())))
      .setTimeout(0)
      .build()
      .toXDR()
    expect(await scenario.build({ transaction_xdr, fee_token: contracts.token })).toMatchObject({
      status: 400,
      body: {
        code: 'insufficient_balance',
        error: expect.stringMatching(
          /^fee_token: the fee is at least \d+ base units of C\w+, and G\w+ has 0\.$/,
        ),
      },
    })
  })

  test('with a token of four billion decimals is refused', async () => {
    const answer = await scenario.quote({ ...increment(), fee_token: contracts.odd })
    expect(answer).toMatchObject({ status: 500, body: { code: 'network_unavailable' } })
  })

  test('with a token of an issuer is refused: the forwarder takes contracts', async () => {
    const answer = await scenario.build({ ...increment(), fee_token: 'native' })
    expect(answer.status).toBe(400)
  })
})

describe('a forwarder that keeps the fee', () => {
  test('makes the build a refusal: nothing would be paid to the relayer', async () => {
    let token = ''
    let counter = ''
    const keeping = await startSponsoredStellar((ledger) => {
      token = ledger.contract(tokenProgram(USER.publicKey()), createWasm(6))
      counter = ledger.contract(COUNTER, createWasm(7))
      return {
        fee_payment_strategy: 'user',
        max_fee: 50_000_000,
        fee_forwarder: ledger.contract(KEEPING_FORWARDER, createWasm(8)),
        allowed_tokens: [{ asset: token, price: { sources: [{ type: 'fixed', price: '0.4' }] } }],
      }
    })
    const { sequence } = keeping.ledger.account(USER.publicKey()) ?? { sequence: 0n }
    const transaction_xdr = new TransactionBuilder(new Account(USER.publicKey(), String(sequence)), {
      fee: '100',
      networkPassphrase: keeping.ledger.passphrase,
    })
      .addOperation(new Contract(counter).call('increment', addressOf(USER.publicKey())))
      .setTimeout(0)
      .build()
      .toXDR()
    expect(await keeping.build({ transaction_xdr, fee_token: token })).toMatchObject({
      status: 400,
      body: { code: 'payment_required', error: expect.stringMatching(/^The relayer would get 0 of \d+/) },
    })
    await keeping.stop()
  }, 60_000)
})
