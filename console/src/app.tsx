import { useEffect, useState } from 'preact/hooks'
import { SignInPage } from './pages/sign-in-page.tsx'
import { forgetSecret, readKeptSecret } from './session/kept-secret.ts'
import { type Session, signIn } from './session/session.ts'
import { Workspace } from './workspace.tsx'

/** The console: the sign-in, and everything else behind it. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [isResuming, setResuming] = useState(readKeptSecret() !== undefined)
  const begin = async (secret: string) => setSession(await signIn(secret))
  useEffect(() => {
    const secret = readKeptSecret()
    if (secret === undefined) return
    // A key that is not accepted any more is asked for again, like the first time.
    begin(secret)
      .catch(forgetSecret)
      .finally(() => setResuming(false))
  }, [])
  const signOut = () => {
    forgetSecret()
    session?.end()
    setSession(undefined)
  }
  if (isResuming) return <p class="muted loading">Signing in …</p>
  if (session === undefined) return <SignInPage signIn={begin} />
  return <Workspace session={session} signOut={signOut} />
}
