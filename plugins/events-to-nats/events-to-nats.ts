import { type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { PluginContext, RelayerEvent } from 'multichain-relayer-client/plugin'

/** The entry of the plugin in the configuration file has these fields in `config`. */
interface Settings {
  readonly stream: string
  /** The first part of the subjects: `relayer` makes `relayer.sepolia-1.transaction_update`. */
  readonly subject: string
}

/**
 * The milliseconds that the server has to store an event. The call fails then, and the service repeats it.
 */
const TIMEOUT_MS = 5_000

let connecting: Promise<JetStreamClient> | undefined

/**
 * Puts each event into a stream of NATS JetStream. The call ends when the stream has stored the event, so
 * none is lost. The service keeps the events of a transaction in order and repeats calls that fail; the
 * stream drops an event that it had within its `duplicate_window`.
 */
export async function on_event({ params: event, config }: PluginContext<RelayerEvent, Settings>) {
  if (config === undefined) throw new Error('The plugin has no config.')
  const stream = await open(config)
  const subject = `${config.subject}.${event.relayer_id ?? 'service'}.${event.type}`
  await stream.publish(subject, JSON.stringify(event), { msgID: event.id, timeout: TIMEOUT_MS })
}

/**
 * Returns the connection, and the stream, which it creates if absent. A failure is forgotten, so that the
 * next call tries again.
 */
function open({ stream, subject }: Settings): Promise<JetStreamClient> {
  connecting ??= begin(stream, subject).catch((error: unknown) => {
    connecting = undefined
    throw error
  })
  return connecting
}

async function begin(stream: string, subject: string): Promise<JetStreamClient> {
  const connection = await connect({
    servers: process.env.NATS_URL ?? '127.0.0.1:4222',
    timeout: TIMEOUT_MS,
    maxReconnectAttempts: -1,
    ...(process.env.NATS_TOKEN && { token: process.env.NATS_TOKEN }),
  })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: stream, subjects: [`${subject}.>`] })
  return jetstream(connection)
}
