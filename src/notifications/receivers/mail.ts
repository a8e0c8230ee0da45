import type { Transporter } from 'nodemailer'
import type { Secret } from '../../security/secrets.ts'
import type { Announcement } from './announcement.ts'

/** The SMTP server of the operator. */
export interface MailSettings {
  readonly host: string
  readonly port: number
  /** `implicit`: from the first byte · `starttls`: required after the greeting · `none`: plain text. */
  readonly tls: 'implicit' | 'starttls' | 'none'
  readonly login?: { readonly user: string; readonly password: Secret }
  /** The address that mails are from. */
  readonly from: string
  /** The domains of the addresses that callers of the API may choose, in lower case. */
  readonly recipientDomains: readonly string[]
}

/** A mail as it is sent. */
export interface Mail {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly date: Date
  readonly messageId: string
  /** The mail that this one answers. */
  readonly inReplyTo?: string
}

/** The answer of the server to a mail that it took. */
export interface MailAnswer {
  readonly code: number
  readonly text: string
}

/** Sends mails. */
export interface Mailer {
  readonly settings: MailSettings
  /**
   * Sends a mail within this time, in ms. Rejects with a `MailError` when the server takes it for none of its
   * recipients: otherwise a second try would be a second mail for the others.
   */
  send(mail: Mail, timeoutMs: number): Promise<MailAnswer>
}

/** A mail was not taken. The message has no credential. */
class MailError extends Error {
  override readonly name = 'MailError'
}

/** The most recipients of one notification. Further ones belong to a mailing list. */
const MAX_RECIPIENTS = 20

/** An address without quotes, comments and escapes, so that it can neither end a header nor begin one. */
const ADDRESS = /^[A-Za-z0-9._+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}$/

/** Returns true for an address that mails can be sent to. */
export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text)
}

/** Reads the recipients of a `mailto:` url; undefined if it is none. */
export function recipientsOf(url: string): readonly string[] | undefined {
  const [, list] = /^mailto:(.+)$/i.exec(url) ?? []
  const addresses = list?.split(',') ?? []
  const isList = addresses.length > 0 && addresses.length <= MAX_RECIPIENTS && addresses.every(isMailAddress)
  return isList ? addresses : undefined
}

/** Returns the domain of an address, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

/**
 * Writes the mail of an announcement. The end answers the beginning, so that programs show both together:
 * both ids derive from the alert and the time when it began. Pure.
 */
export function mailOf(announcement: Announcement, to: readonly string[], from: string): Mail {
  const { key, state, severity, title, text, since, at, facts, link } = announcement
  const idOf = (which: Announcement['state']) => `<${key}.${since.getTime()}.${which}@${domainOf(from)}>`
  const isOver = state === 'resolved'
  const lines = [
    isOver ? `Resolved at ${at.toISOString()}.` : `Since ${since.toISOString()}, ${severity}.`,
    '',
    text,
    ...(link === undefined ? [] : ['', link]),
    '',
    ...Object.entries(facts).map(([name, value]) => `${name}: ${value}`),
  ]
  return {
    to,
    subject: `${isOver ? 'Re: ' : ''}${title}`,
    text: lines.join('\n'),
    date: at,
    messageId: idOf(state),
    ...(isOver && { inReplyTo: idOf('firing') }),
  }
}

/**
 * Creates a mailer. Certificates are verified, and a server without STARTTLS gets nothing, unless the
 * settings say `none`. `ca` are further certificates to trust, in PEM.
 */
export function createMailer(settings: MailSettings, ca?: string): Mailer {
  return {
    settings,
    send: async ({ to, inReplyTo, ...mail }, timeoutMs) => {
      // Loaded only where mails are sent.
      const { createTransport } = await import('nodemailer')
      const transporter = createTransport({
        ...connectionOf(settings, timeoutMs),
        ...(ca && { tls: { ca } }),
      })
      const message = {
        ...mail,
        from: settings.from,
        to: [...to],
        ...(inReplyTo !== undefined && { inReplyTo, references: inReplyTo }),
        headers: { 'Auto-Submitted': 'auto-generated' },
      }
      return within(transporter, timeoutMs, () => sendOne(transporter, message))
    },
  }
}

function connectionOf({ host, port, tls, login }: MailSettings, timeoutMs: number) {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login && { auth: { user: login.user, pass: login.password.reveal() } }),
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // The text of an alert must never name something to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

async function sendOne(
  transporter: Transporter,
  message: Parameters<Transporter['sendMail']>[0],
): Promise<MailAnswer> {
  try {
    const { response, rejected } = (await transporter.sendMail(message)) as {
      readonly response: string
      readonly rejected: readonly unknown[]
    }
    const text = rejected.length === 0 ? response : `${response}; not for ${rejected.join(', ')}`
    return { code: Number(/^\d{3}/.exec(response)?.[0] ?? 250), text }
  } catch (error) {
    throw new MailError(reasonOf(error))
  }
}

/** A failed login is told without the words of the server, which could repeat what it was sent. */
function reasonOf(error: unknown): string {
  const {
    code,
    responseCode,
    message = 'unknown',
  } = error as {
    readonly code?: string
    readonly responseCode?: number
    readonly message?: string
  }
  if (code === 'EAUTH') return `the SMTP server refused the login (${responseCode ?? 'no code'})`
  return message
}

/** A server that sends a byte from time to time must not hold a delivery for longer. */
async function within<T>(transporter: Transporter, ms: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new MailError(`no complete answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work(), limit])
  } finally {
    clearTimeout(timer)
    transporter.close()
  }
}
