import {
  Account,
  Asset,
  Claimant,
  Keypair,
  Operation,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccountState, startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { stellarEffects } from '../../../src/chains/stellar/effects/effects.ts'
import { submitTo } from '../../support/stellar-scenario.ts'

const [SELF, RECEIVER, ATTACKER] = [1, 2, 3].map((byte) =>
  Keypair.fromRawEd25519Seed(Buffer.alloc(32, byte)),
) as [Keypair, Keypair, Keypair]
const NATIVE = Asset.native()
const EUR = new Asset('EUR', RECEIVER.publicKey())
const EVIL = new Asset('EVIL', ATTACKER.publicKey())
/** More than all runs together can move, in stroops. */
const PLENTY = 10n ** 15n

let ledger: TestLedger

/** The relayer has lumens and EUR; the attacker sells its own asset for either of them, and buys it back for almost nothing. */
beforeAll(async () => {
  ledger = await startLedger({ closeEveryMs: 'manual' })
  for (const account of [SELF, RECEIVER, ATTACKER]) ledger.fund(account.publicKey(), PLENTY)
  const trust = [EUR, EVIL].map((asset) => Operation.changeTrust({ asset }))
  expect(await apply(SELF, trust)).toBe(true)
  expect(await apply(ATTACKER, [Operation.changeTrust({ asset: EUR })])).toBe(true)
  expect(await apply(RECEIVER, [pay(SELF, EUR, '10000000'), pay(ATTACKER, EUR, '10000000')])).toBe(true)
  const names = new Map([
    ['native', 'native'],
    ['EUR', nameOf(EUR)],
    ['EVIL', nameOf(EVIL)],
  ])
  for (const [selling, buying, n, d] of [
    ['EVIL', 'native', 1n, 1n],
    ['EVIL', 'EUR', 1n, 1n],
    ['native', 'EVIL', 1_000n, 1n],
    ['EUR', 'EVIL', 1_000n, 1n],
  ] as const)
    ledger.offer({
      seller: ATTACKER.publicKey(),
      selling: names.get(selling) ?? '',
      buying: names.get(buying) ?? '',
      price: { n, d },
    })
})
afterAll(() => ledger.stop())

function nameOf(asset: Asset): string {
  return asset.isNative() ? 'native' : `${asset.getCode()}:${asset.getIssuer()}`
}

function pay(to: Keypair, asset: Asset, amount: string): xdr.Operation {
  return Operation.payment({ destination: to.publicKey(), asset, amount })
}

function build(source: Keypair, operations: readonly xdr.Operation[]): string {
  const { sequence } = ledger.account(source.publicKey()) ?? { sequence: 0n }
  const builder = new TransactionBuilder(new Account(source.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
    timebounds: { minTime: 0, maxTime: 0 },
  })
  for (const operation of operations) builder.addOperation(operation)
  const transaction = builder.build()
  transaction.sign(source)
  return transaction.toXDR()
}

/** Returns true if the operations were applied. */
async function apply(source: Keypair, operations: readonly xdr.Operation[]): Promise<boolean> {
  const envelope = build(source, operations)
  const hash = Buffer.from(TransactionBuilder.fromXDR(envelope, ledger.passphrase).hash()).toString('hex')
  if ((await submitTo(ledger, envelope)) !== 'PENDING') return false
  ledger.close()
  return ledger.included(hash)?.frameResult.code === 'txSuccess'
}

/** Everything that an account has, by asset. */
function holdingsOf(state: AccountState | undefined): Map<string, bigint> {
  return new Map([
    ['native', state?.balance ?? 0n],
    ...(state?.trustlines ?? []).map(({ asset, balance }): [string, bigint] => [asset, balance]),
  ])
}

const asset = fc.constantFrom(NATIVE, EUR, EVIL)
const amount = fc.integer({ min: 1, max: 5_000_000 }).map((units) => `${units / 10_000_000 + 1}`.slice(0, 9))
const account = fc.constantFrom(RECEIVER, ATTACKER)
const path = fc.array(fc.constantFrom(EVIL, NATIVE, EUR), { maxLength: 2 })
/** Accounts that do not exist yet. */
const fresh = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((seed) => Keypair.fromRawEd25519Seed(Buffer.from(seed)))

const operation: fc.Arbitrary<xdr.Operation> = fc.oneof(
  fc.record({ to: account, asset, amount }).map((drawn) => pay(drawn.to, drawn.asset, drawn.amount)),
  fc
    .record({ to: fresh, amount })
    .map((drawn) =>
      Operation.createAccount({ destination: drawn.to.publicKey(), startingBalance: drawn.amount }),
    ),
  fc
    .record({ to: account, sendAsset: asset, destAsset: asset, amount, path })
    .map(({ to, amount: sendAmount, ...drawn }) =>
      Operation.pathPaymentStrictSend({
        ...drawn,
        sendAmount,
        destination: to.publicKey(),
        destMin: '0.0000001',
      }),
    ),
  fc
    .record({ to: account, sendAsset: asset, destAsset: asset, amount, path })
    .map(({ to, amount: sendMax, ...drawn }) =>
      Operation.pathPaymentStrictReceive({
        ...drawn,
        sendMax,
        destination: to.publicKey(),
        destAmount: '0.0001',
      }),
    ),
  fc.record({ to: account, asset, amount }).map((drawn) =>
    Operation.createClaimableBalance({
      asset: drawn.asset,
      amount: drawn.amount,
      claimants: [new Claimant(drawn.to.publicKey(), Claimant.predicateUnconditional())],
    }),
  ),
  fc.constant(Operation.manageData({ name: 'note', value: 'x' })),
  fc.constant(Operation.changeTrust({ asset: EVIL })),
)

test('what the ledger takes from the relayer, and who gets it, is in the effects that rules read', async () => {
  let applied = 0
  let exchanged = 0
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 3 }), async (operations) => {
      const envelope = build(SELF, operations)
      const effects = stellarEffects(
        { type: 'stellar', network: '', transactionXdr: envelope },
        SELF.publicKey(),
      )
      const before = holdingsOf(ledger.account(SELF.publicKey()))
      const others = [RECEIVER, ATTACKER].map((other) => holdingsOf(ledger.account(other.publicKey())))
      if (!(await apply(SELF, operations))) return
      applied += 1
      const after = holdingsOf(ledger.account(SELF.publicKey()))
      const fee = 100n * BigInt(operations.length)
      const believed = new Map(effects.amounts.map(({ asset: name, value }) => [name, value]))
      const isRead = effects.unread.every(({ isCounted }) => isCounted)
      for (const [name, had] of before) {
        const lost = had - (after.get(name) ?? 0n) - (name === 'native' ? fee : 0n)
        if (isRead) expect(lost, `loss of ${name}`).toBeLessThanOrEqual(believed.get(name) ?? 0n)
      }
      for (const [index, other] of [RECEIVER, ATTACKER].entries()) {
        const now = holdingsOf(ledger.account(other.publicKey()))
        const gains = [...now].filter(([name, has]) => has > (others[index]?.get(name) ?? 0n))
        if (gains.length === 0 || effects.unread.length > 0) continue
        expect(effects.receivers, `who gained ${gains.join()}`).toContain(other.publicKey())
      }
      if (effects.unread.length > 0) exchanged += 1
    }),
    { numRuns: 300 },
  )
  expect(applied).toBeGreaterThan(50)
  expect(exchanged).toBeGreaterThan(5)
}, 60_000)
