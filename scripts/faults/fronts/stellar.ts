import { Address, Keypair, nativeToScVal, xdr } from '@stellar/stellar-sdk'
import type { AppliedTransaction } from '../../../simulators/stellar/chain.ts'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { isSuccess } from '../../../simulators/stellar/transaction/results.ts'
import { sendFirst, stellarPayment } from '../../../test/plugins/x402/stellar-payment.ts'
import { startFaultyNode } from '../../../test/support/faulty-node.ts'
import type { Random } from '../../../test/support/random.ts'
import {
  keypairOf,
  MAIN,
  payment,
  RECEIVER,
  stellarConfig,
  XLM,
} from '../../../test/support/stellar-scenario.ts'
import { AMOUNT, type FrontChain, type Order, type PayerKind } from './front-chain.ts'

/** The networks that x402 names have their passphrases; this one has that of testnet. */
const PASSPHRASE = 'Test SDF Network ; September 2015'

/** The policy `max_fee` of the relayer, in stroops. */
const MAX_FEE = 1_000_000n

/** Starts a ledger that closes when it is told, and a node in front of it that can fail. */
export async function startStellarFront(random: Random, rules: object): Promise<FrontChain> {
  const ledger = await startLedger({ closeEveryMs: 'manual', passphrase: PASSPHRASE, protocolVersion: 30 })
  const node = await startFaultyNode(ledger.url, { replica: (behind) => ledger.replica({ behind }) })
  const merchant = keypairOf('merchant').publicKey()
  const sender = keypairOf('stranger')
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  for (const account of [merchant, sender.publicKey(), RECEIVER]) ledger.fund(account, 100n * XLM)
  const before = ledger.account(merchant)?.balance ?? 0n
  let closes = false

  async function sign(kind: PayerKind, payer: Keypair, asset: string): Promise<Order> {
    const isBound = random.chance(0.3)
    const parts = { ledger, payer, payTo: merchant, passphrase: PASSPHRASE, asset, isBound }
    const { body, identity, operation } = await stellarPayment(parts)
    const entry = Buffer.from(operation.signed.toXdr())
    return {
      body,
      identity,
      payer: payer.publicKey(),
      kind,
      sendFirst: () =>
        sendFirst({ ledger, passphrase: PASSPHRASE, sender }, operation).catch(() => undefined),
      takeBack: async () => {
        const { balance = 0n } = ledger.account(payer.publicKey()) ?? {}
        ledger.fund(payer.publicKey(), reserveOf(ledger) - balance)
      },
      paidIn: async () =>
        appliedIn(ledger).find(
          ({ frame, frameResult }) =>
            isSuccess(frameResult) && Buffer.from(frame.envelope.toXdr()).includes(entry),
        )?.frame.hash,
    }
  }

  const order: FrontChain['order'] = (kind, { payments, funds }) => {
    const payer = Keypair.random()
    const money = kind === 'token' ? 0n : AMOUNT * BigInt(funds)
    ledger.fund(payer.publicKey(), reserveOf(ledger) + money)
    const asset =
      kind === 'token' ? twoFacedToken(ledger, () => closes && random.chance(0.5)) : ledger.nativeContract
    return Promise.all(Array.from({ length: payments }, () => sign(kind, payer, asset)))
  }

  const { networks = [], signers = [] } = stellarConfig({ urls: [node.url], passphrase: PASSPHRASE })
  return {
    network: 'stellar:testnet',
    asset: ledger.nativeContract,
    otherPayee: RECEIVER,
    node,
    config: {
      networks,
      signers,
      relayers: [
        {
          id: 'main',
          name: 'Main',
          network: 'standalone',
          network_type: 'stellar',
          signer_id: 'main',
          policies: { max_fee: Number(MAX_FEE), rules },
        },
      ],
    },
    lies: {
      'is behind': { behind: 1 },
      'has no events': {
        refuse: ({ method }) => (method === 'getEvents' ? { code: -32_601, message: 'not here' } : undefined),
      },
      'denies events': {
        lie: ({ method }, reply) =>
          method === 'getEvents'
            ? { ...reply, result: { ...(reply.result as object), events: [], oldestLedger: 1_000_000 } }
            : reply,
      },
      'fails simulations': {
        lie: ({ method }, reply) =>
          method === 'simulateTransaction' ? { ...reply, result: { error: 'as it likes' } } : reply,
      },
    },
    ownRequest: payment(1),
    kinds: ['honest', 'token'],
    maxFee: MAX_FEE,
    blockMs: 300,
    makeBlock: async () => {
      closes = true
      ledger.close()
      closes = false
    },
    order,
    relayed: async () =>
      appliedIn(ledger)
        .filter(({ frame }) => frame.transaction.source === MAIN.publicKey())
        .map((applied) => ({
          hash: applied.frame.hash,
          fee: applied.result.feeCharged,
          payer: payerIn(applied),
          problem: applied.frame.fee > MAX_FEE ? `a fee of ${applied.frame.fee} was bid` : undefined,
        })),
    received: async () => (ledger.account(merchant)?.balance ?? 0n) - before,
    stop: async () => {
      await node.stop()
      await ledger.stop()
    },
  }
}

/** What stays on an account so that it may exist. */
function reserveOf({ ledgers }: TestLedger): bigint {
  return 2n * BigInt(ledgers.at(-1)?.header.baseReserve ?? 0)
}

function appliedIn({ ledgers }: TestLedger): readonly AppliedTransaction[] {
  return ledgers.flatMap(({ transactions }) => transactions)
}

/** The first argument of `transfer`. */
function payerIn({ frame }: AppliedTransaction): string | undefined {
  const [operation] = frame.transaction.operations
  if (operation?.body.type !== 'invokeHostFunction') return undefined
  const { hostFunction } = operation.body.invokeHostFunctionOp
  if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return undefined
  const [from] = hostFunction.invokeContract.args
  return from?.type === 'scvAddress' ? Address.fromScVal(from).toString() : undefined
}

/** A token whose issuer sees what waits for a ledger, and stops the token in front of it as often as not. */
function twoFacedToken(ledger: TestLedger, stops: () => boolean): string {
  return ledger.contract({
    balance: () => nativeToScVal(AMOUNT * 10n, { type: 'i128' }),
    transfer(env, from, to, amount) {
      if (!from || !to || !amount) return env.trap('three arguments are expected')
      env.requireAuth(Address.fromScVal(from).toString())
      if (stops()) env.trap('not in this ledger')
      env.emit([xdr.ScVal.scvSymbol('transfer'), from, to], amount)
      return undefined
    },
  })
}
