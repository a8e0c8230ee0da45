import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { until } from './until.ts'

/** A mail as the server took it. */
export interface TakenMail {
  readonly from: string
  readonly to: readonly string[]
  /** The headers by name in lower case, unfolded. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  /** Everything, as it came. */
  readonly raw: string
  readonly isEncrypted: boolean
}

/** A real SMTP server on this machine. */
export interface SmtpReceiver {
  readonly port: number
  readonly mails: readonly TakenMail[]
  arrived(count: number): Promise<readonly TakenMail[]>
  stop(): Promise<void>
}

/** Starts one. Without a certificate of its own, it has that of its library, which no one trusts. */
export async function startSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const mails: TakenMail[] = []
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 100,
    ...options,
    async onData(stream, session, done) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk as Buffer)
      const raw = Buffer.concat(chunks).toString()
      const end = raw.indexOf('\r\n\r\n')
      const lines = raw
        .slice(0, end)
        .replaceAll(/\r\n[ \t]+/g, ' ')
        .split('\r\n')
      const { mailFrom, rcptTo } = session.envelope
      mails.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        headers: new Map(
          lines.map((line) => {
            const [name = '', ...value] = line.split(': ')
            return [name.toLowerCase(), value.join(': ')]
          }),
        ),
        text: raw.slice(end + 4),
        raw,
        isEncrypted: session.secure,
      })
      done()
    },
  })
  // A client that does not trust the certificate ends the connection, which is what some tests want.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    arrived: (count) =>
      until(
        async () => mails,
        (list) => list.length >= count,
      ),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
