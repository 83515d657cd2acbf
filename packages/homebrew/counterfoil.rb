class Counterfoil < Formula
  desc "Holds what language-model agents say against what their tool calls show"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/counterfoil-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/counterfoil-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/counterfoil-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/counterfoil-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "counterfoil"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/counterfoil.bash" => "counterfoil"
    zsh_completion.install "completions/_counterfoil"
    fish_completion.install "completions/counterfoil.fish"
    doc.install "README.md", "CHANGELOG.md", Dir["verify/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/counterfoil --version")
    (testpath/"session.json").write <<~JSON
      {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hello."}]}
    JSON
    system bin/"counterfoil", "check", testpath/"session.json"
  end
end
