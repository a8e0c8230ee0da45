import { anvilNetwork, ON_ANVIL } from '../../../test/support/anvil.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { startProcess } from '../../../test/support/process.ts'
import { DEV_KEYS } from '../../../test/support/service.ts'
import { atLeast, type Row, withoutPostgres } from '../measurement.ts'
import { startSlowKms } from '../support/slow-kms.ts'
import {
  confirmed,
  measureSustained,
  send,
  WARM_UP,
  WITHOUT_LIMITS,
  withAnvil,
  withFolder,
} from '../support/stage.ts'

/** The time of one call, in ms: that of a KMS in the same region. */
const DELAY_MS = 20

/** The calls at the same time. */
const CONCURRENCY = 50

const SEND = `send on PostgreSQL, one account, key in a KMS of ${DELAY_MS} ms, ${CONCURRENCY} calls at a time`

/** Sending with a key that another service holds: the time of its answers must not be the time of the account. */
export async function benchKms({ transactions }: { transactions: number }): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(SEND)
  const postgres = await startPostgres()
  const kms = await startSlowKms(Buffer.from(DEV_KEYS[0].slice(2), 'hex'), DELAY_MS)
  try {
    const perSecond = await measure({
      databaseUrl: await postgres.createDatabase(),
      kmsUrl: kms.url,
      transactions,
    })
    return [{ what: SEND, ours: `${perSecond.toFixed(0)} /s`, value: perSecond, goal: atLeast(300, '/s') }]
  } finally {
    await kms.stop()
    await postgres.stop()
  }
}

interface Setting {
  readonly databaseUrl: string
  readonly kmsUrl: string
  readonly transactions: number
}

function measure({ databaseUrl, kmsUrl, transactions }: Setting): Promise<number> {
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const service = await startProcess({
        rpcUrl: anvil.url,
        folder,
        config: {
          relayers: [{ id: 'main', name: 'Main', signer_id: 'kms', ...ON_ANVIL }],
          signers: [{ id: 'kms', type: 'aws_kms', config: { region: 'eu-west-1', key_id: 'alias/bench' } }],
          notifications: [],
          networks: [anvilNetwork([anvil.url])],
        },
        env: {
          ...WITHOUT_LIMITS,
          DATABASE_URL: databaseUrl,
          AWS_ENDPOINT_URL_KMS: kmsUrl,
          AWS_ACCESS_KEY_ID: 'bench',
          AWS_SECRET_ACCESS_KEY: 'bench',
          RELAYER_KEY_SERVICE_CONCURRENCY: String(CONCURRENCY),
        },
      })
      try {
        await send(service, WARM_UP)
        await confirmed(service, WARM_UP)
        const { perSecond, lost } = await measureSustained({ anvil, service }, transactions)
        if (lost > 0) throw new Error(`${lost} transactions were lost`)
        return perSecond
      } finally {
        await service.terminate()
      }
    }),
  )
}
