// SPDX-License-Identifier: Apache-2.0
// The JDK's servers, for servers.py: java Servers.java HTTP-PORT TLS-PORT KEYSTORE
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.FileInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

class Servers {
	// Whoever asks for a.test is refused: a ServerHello is one for somebody else.
	static final SNIMatcher NOT_A = new SNIMatcher(0) {
		public boolean matches(SNIServerName name) {
			return !new SNIHostName(name.getEncoded()).getAsciiName().equalsIgnoreCase("a.test");
		}
	};

	static void answer(HttpExchange x) throws java.io.IOException {
		byte[] text = ("vhost=" + x.getRequestHeaders().getFirst("Host") + ";\n").getBytes();
		x.sendResponseHeaders(200, text.length);
		x.getResponseBody().write(text);
		x.close();
	}

	static void shake(SSLSocket s) {
		try (s) {
			s.setSoTimeout(2000);
			s.startHandshake();
		} catch (java.io.IOException e) {
			// Its alert has been sent.
		}
	}

	public static void main(String[] args) throws Exception {
		InetAddress here = InetAddress.getByName("127.0.0.1");
		HttpServer web = HttpServer.create(new InetSocketAddress(here, Integer.parseInt(args[0])), 0);
		web.createContext("/", Servers::answer);
		web.setExecutor(Executors.newCachedThreadPool());
		web.start();
		KeyStore keys = KeyStore.getInstance("PKCS12");
		keys.load(new FileInputStream(args[2]), "secret".toCharArray());
		KeyManagerFactory managers = KeyManagerFactory.getInstance("SunX509");
		managers.init(keys, "secret".toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(managers.getKeyManagers(), null, null);
		SSLServerSocket l = (SSLServerSocket) context.getServerSocketFactory().createServerSocket(
				Integer.parseInt(args[1]), 100, here);
		l.setEnabledProtocols(new String[] {"SSLv2Hello", "TLSv1.2", "TLSv1.3"});
		SSLParameters p = l.getSSLParameters();
		p.setSNIMatchers(List.of(NOT_A));
		l.setSSLParameters(p);
		while (true) {
			SSLSocket s = (SSLSocket) l.accept();
			Thread t = new Thread(() -> shake(s));
			t.setDaemon(true);
			t.start();
		}
	}
}
