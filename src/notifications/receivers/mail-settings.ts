import { createSecret } from '../../security/secrets.ts'
import { domainOf, isMailAddress, type MailSettings } from './mail.ts'

/** The variables of the SMTP server. */
export const MAIL_VARIABLES = [
  'RELAYER_SMTP_URL',
  'RELAYER_SMTP_FROM',
  'RELAYER_SMTP_RECIPIENT_DOMAINS',
] as const

type Env = Readonly<Record<string, string | undefined>>

/** The ports of submission, with TLS from the first byte and with STARTTLS (RFC 8314, RFC 6409). */
const PORTS = { implicit: 465, starttls: 587, none: 25 } as const

const EXPECTED =
  'smtp://user:password@host:587 or smtps://user:password@host:465, with special characters of the password percent-encoded'

/**
 * Reads the SMTP server for alerts by e-mail; undefined if there is none. A problem never quotes the url,
 * which has the password.
 */
export function readMail(env: Env, problems: string[]): MailSettings | undefined {
  const {
    RELAYER_SMTP_URL: text,
    RELAYER_SMTP_FROM: from = '',
    RELAYER_SMTP_RECIPIENT_DOMAINS: listed = '',
  } = env
  if (!text) {
    if (from !== '' || listed !== '')
      problems.push('RELAYER_SMTP_FROM and RELAYER_SMTP_RECIPIENT_DOMAINS need RELAYER_SMTP_URL')
    return undefined
  }
  if (!isMailAddress(from)) problems.push('RELAYER_SMTP_FROM must be an address such as relayer@example.com')
  const recipientDomains = listed
    .split(',')
    .map((domain) => domain.trim().toLowerCase())
    .filter((domain) => domain !== '')
  if (!recipientDomains.every((domain) => isMailAddress(`a@${domain}`)))
    problems.push(
      'RELAYER_SMTP_RECIPIENT_DOMAINS must be a comma-separated list of domains such as example.com',
    )
  const server = readServer(text, problems)
  if (server === undefined) return undefined
  return {
    ...server,
    from,
    recipientDomains: recipientDomains.length > 0 ? recipientDomains : [domainOf(from)],
  }
}

type Server = Omit<MailSettings, 'from' | 'recipientDomains'>

function readServer(text: string, problems: string[]): Server | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const tls = url && tlsOf(url)
  const login = url && loginOf(url)
  const isWhole = url !== undefined && url.hostname !== '' && url.hash === '' && /^\/?$/.test(url.pathname)
  if (!isWhole || tls === undefined || login === undefined) {
    problems.push(`RELAYER_SMTP_URL must be ${EXPECTED}; ?tls=off at the end of smtp:// sends plain text`)
    return undefined
  }
  if (tls === 'none' && login !== 'none')
    problems.push('RELAYER_SMTP_URL has a password and tls=off: the password would be sent as plain text')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? PORTS[tls] : Number(url.port)
  return { host, port, tls, ...(login !== 'none' && { login }) }
}

function tlsOf({ protocol, search }: URL): MailSettings['tls'] | undefined {
  if (protocol === 'smtps:') return search === '' ? 'implicit' : undefined
  if (protocol !== 'smtp:') return undefined
  if (search === '') return 'starttls'
  return search === '?tls=off' ? 'none' : undefined
}

/** Returns undefined for one that is only half there, or not encoded. */
function loginOf({ username, password }: URL): Server['login'] | 'none' | undefined {
  if (username === '' && password === '') return 'none'
  if (username === '' || password === '') return undefined
  try {
    return { user: decodeURIComponent(username), password: createSecret(decodeURIComponent(password)) }
  } catch {
    return undefined
  }
}
