-- An archive from the last build before 1.0 (schema 11): sqlite3 archive.sqlite .dump, with two changes. The full-text index is created and
-- rebuilt, because .dump writes its tables with PRAGMA writable_schema; and the folder to which recording 2 was exported was renamed.
-- Recording 1 has two passes; recording 2 has a bookmark, a correction and an exported copy; recording 3 was deleted.
PRAGMA application_id = 1179861842; PRAGMA user_version = 11; PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE recording (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again: it names a folder
    started_at REAL NOT NULL,               -- seconds since 1970-01-01T00:00:00Z
    clock TEXT NOT NULL,                    -- synchronized, unverified
    boot_id TEXT,
    monotonic_ns INTEGER,
    microphone TEXT NOT NULL,
    length_samples INTEGER NOT NULL DEFAULT 0,
    transcribed_samples INTEGER NOT NULL DEFAULT 0,
    stop_reason TEXT NOT NULL DEFAULT 'cut short'
, state TEXT NOT NULL DEFAULT 'present', journal_bytes INTEGER NOT NULL DEFAULT 0, has_speakers INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO recording VALUES(1,1795800443.9213752746,'unverified','ba455440ae73412a829db0f4ef83bdad',29337632226849,'file+fast:/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav',47840,47840,'ended','present',3039,0);
INSERT INTO recording VALUES(2,1795800465.5575933456,'unverified','ba455440ae73412a829db0f4ef83bdad',29359268444878,'file:/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav',134400,134400,'command','present',8357,0);
CREATE TABLE pass (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
    engine TEXT NOT NULL,
    version TEXT NOT NULL,
    model TEXT NOT NULL,
    profile TEXT NOT NULL
, complete INTEGER NOT NULL DEFAULT 0, channel TEXT, correction TEXT) STRICT;
INSERT INTO pass VALUES(1,1,'pocketsphinx','0.8+5prealpha','en-us','live',1,'{"cepstralMean":[51.24104690551758,3.3777642250061035,-5.2156524658203125,19.211490631103516,-24.544090270996094,14.37829303741455,-7.681529521942139,-10.978789329528809,5.20133638381958,-0.6981566548347473,5.7673420906066895,-1.0101381540298462,3.7986106872558594]}',NULL);
INSERT INTO pass VALUES(2,1,'pocketsphinx','0.8+5prealpha','en-us','final',1,'{"surveyed":47840,"cepstralMean":[51.24104690551758,3.3777642250061035,-5.2156524658203125,19.211490631103516,-24.544090270996094,14.37829303741455,-7.681529521942139,-10.978789329528809,5.20133638381958,-0.6981566548347473,5.7673420906066895,-1.0101381540298462,3.7986106872558594]}',NULL);
INSERT INTO pass VALUES(3,2,'pocketsphinx','0.8+5prealpha','en-us','live',1,'{"cepstralMean":[53.69493865966797,7.219974994659424,-8.620965957641602,24.035449981689453,-14.183176040649414,9.321856498718262,-8.350279808044434,-4.775996685028076,7.209376811981201,-3.722320318222046,5.097015857696533,-6.805986404418945,4.443292617797852]}',NULL);
INSERT INTO pass VALUES(4,2,'pocketsphinx','0.8+5prealpha','en-us','final',1,'{"cepstralMean":[53.69493865966797,7.219974994659424,-8.620965957641602,24.035449981689453,-14.183176040649414,9.321856498718262,-8.350279808044434,-4.775996685028076,7.209376811981201,-3.722320318222046,5.097015857696533,-6.805986404418945,4.443292617797852],"surveyed":112160}',NULL);
INSERT INTO pass VALUES(5,2,'person','','Ann','person',1,NULL,'{"annotations":{"consent":"","note":"","notes":[],"people":"","place":"","quotations":[],"title":""},"base":1,"person":"Ann","savedAt":1795800498.4855442}');
CREATE TABLE segment (
    id INTEGER PRIMARY KEY,
    pass INTEGER NOT NULL REFERENCES pass ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start_sample INTEGER NOT NULL,
    end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
    text TEXT NOT NULL,
    ended_by TEXT NOT NULL, pitch REAL, jitter REAL, shimmer REAL, voicing REAL, final_lowering REAL,
    UNIQUE (pass, number)
) STRICT;
INSERT INTO segment VALUES(1,1,1,3360,44800,'he was not until exposed young man','stop',81.218274111675128777,0.012111557647855914973,0.066017678577124941363,0.51200000000000001065,-4.496420300084559507);
INSERT INTO segment VALUES(2,3,1,320,108160,'mr john guess would have been leisure to consider how much there might be prickly in his power to do for','silence',101.36631500118588178,0.015490878823689728863,0.072861108393703799546,0.56687898089171973037,-5.1838207766769333062);
INSERT INTO segment VALUES(3,2,1,3360,44800,'he was not until exposed young man','stop',81.218274111675128777,0.012111557647855914973,0.066017678577124941363,0.51200000000000001065,-4.496420300084559507);
INSERT INTO segment VALUES(4,5,1,320,108160,'Mr. John Dashwood had then been leisure to consider how much there might be prickly in his power to do for','silence',101.36631500118588178,0.015490878823689728863,0.072861108393703799546,0.56687898089171973037,-5.1838207766769333062);
INSERT INTO segment VALUES(5,4,1,320,108160,'mr john guess would have been leisure to consider how much there might be greatly in his power to do for','silence',101.37529177010580383,0.015506916122843749858,0.073093891487613402158,0.56618819776714512936,-5.1822877032972334276);
CREATE TABLE word (
    segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start_sample INTEGER NOT NULL,
    end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
    text TEXT NOT NULL,
    confidence REAL, is_spread INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (segment, number)
) STRICT, WITHOUT ROWID;
INSERT INTO word VALUES(1,1,3360,5280,'he',0.98644227744977219796,0);
INSERT INTO word VALUES(1,2,5280,8800,'was',0.98359778866675207087,0);
INSERT INTO word VALUES(1,3,8800,16960,'not',0.96343647037947544031,0);
INSERT INTO word VALUES(1,4,18080,23040,'until',0.92560692895685181547,0);
INSERT INTO word VALUES(1,5,23040,33760,'exposed',0.76931852759783247996,0);
INSERT INTO word VALUES(1,6,33760,37280,'young',0.85954339531731627221,0);
INSERT INTO word VALUES(1,7,37280,43840,'man',0.97503573770397355957,0);
INSERT INTO word VALUES(2,1,5280,10080,'mr',0.96725231410457790381,0);
INSERT INTO word VALUES(2,2,10080,15680,'john',0.8826473923002453592,0);
INSERT INTO word VALUES(2,3,15680,21280,'guess',0.79455091084381335164,0);
INSERT INTO word VALUES(2,4,21280,25280,'would',0.94667652096186705179,0);
INSERT INTO word VALUES(2,5,25280,28960,'have',0.94870985871046042969,0);
INSERT INTO word VALUES(2,6,28960,35200,'been',0.77147300559971021538,0);
INSERT INTO word VALUES(2,7,35840,43360,'leisure',0.97154055945630291013,0);
INSERT INTO word VALUES(2,8,43360,46240,'to',0.86725248748600858306,0);
INSERT INTO word VALUES(2,9,46240,55040,'consider',0.96932249667973258144,0);
INSERT INTO word VALUES(2,10,55040,63200,'how',0.97040814197532865303,0);
INSERT INTO word VALUES(2,11,64160,69280,'much',0.97632864614321879237,0);
INSERT INTO word VALUES(2,12,69280,72480,'there',0.93184623497253360469,0);
INSERT INTO word VALUES(2,13,72480,76640,'might',0.96743516997331702178,0);
INSERT INTO word VALUES(2,14,76640,79040,'be',0.98357379921549970003,0);
INSERT INTO word VALUES(2,15,79040,87360,'prickly',0.60855138093034732982,0);
INSERT INTO word VALUES(2,16,87360,88960,'in',0.86982139216134257697,0);
INSERT INTO word VALUES(2,17,88960,91840,'his',0.82611461733034763366,0);
INSERT INTO word VALUES(2,18,91840,96640,'power',0.94524811370453776238,0);
INSERT INTO word VALUES(2,19,96640,98240,'to',0.85695595494275633718,0);
INSERT INTO word VALUES(2,20,98240,101280,'do',0.93209236071917678234,0);
INSERT INTO word VALUES(2,21,101280,106240,'for',0.91709118299600789203,0);
INSERT INTO word VALUES(3,1,3360,5280,'he',0.94964215228323489714,0);
INSERT INTO word VALUES(3,2,5280,8800,'was',0.96842674496503211578,0);
INSERT INTO word VALUES(3,3,8800,16960,'not',0.95432669425885541247,0);
INSERT INTO word VALUES(3,4,18080,23040,'until',0.85233811089570477026,0);
INSERT INTO word VALUES(3,5,23040,33760,'exposed',0.774812216584139124,0);
INSERT INTO word VALUES(3,6,33760,37280,'young',0.74613690364114659825,0);
INSERT INTO word VALUES(3,7,37280,43840,'man',0.85436463998900380456,0);
INSERT INTO word VALUES(4,1,5280,10080,'Mr.',1.0,0);
INSERT INTO word VALUES(4,2,10080,15680,'John',1.0,0);
INSERT INTO word VALUES(4,3,15680,21280,'Dashwood',1.0,0);
INSERT INTO word VALUES(4,4,21280,25280,'had',1.0,0);
INSERT INTO word VALUES(4,5,25280,28960,'then',1.0,0);
INSERT INTO word VALUES(4,6,28960,35200,'been',0.77147300559971021538,0);
INSERT INTO word VALUES(4,7,35840,43360,'leisure',0.97154055945630291013,0);
INSERT INTO word VALUES(4,8,43360,46240,'to',0.86725248748600858306,0);
INSERT INTO word VALUES(4,9,46240,55040,'consider',0.96932249667973258144,0);
INSERT INTO word VALUES(4,10,55040,63200,'how',0.97040814197532865303,0);
INSERT INTO word VALUES(4,11,64160,69280,'much',0.97632864614321879237,0);
INSERT INTO word VALUES(4,12,69280,72480,'there',0.93184623497253360469,0);
INSERT INTO word VALUES(4,13,72480,76640,'might',0.96743516997331702178,0);
INSERT INTO word VALUES(4,14,76640,79040,'be',0.98357379921549970003,0);
INSERT INTO word VALUES(4,15,79040,87360,'prickly',0.60855138093034732982,0);
INSERT INTO word VALUES(4,16,87360,88960,'in',0.86982139216134257697,0);
INSERT INTO word VALUES(4,17,88960,91840,'his',0.82611461733034763366,0);
INSERT INTO word VALUES(4,18,91840,96640,'power',0.94524811370453776238,0);
INSERT INTO word VALUES(4,19,96640,98240,'to',0.85695595494275633718,0);
INSERT INTO word VALUES(4,20,98240,101280,'do',0.93209236071917678234,0);
INSERT INTO word VALUES(4,21,101280,106240,'for',0.91709118299600789203,0);
INSERT INTO word VALUES(5,1,5440,10080,'mr',0.93913352632646329709,0);
INSERT INTO word VALUES(5,2,10080,15680,'john',0.89509066971716766403,0);
INSERT INTO word VALUES(5,3,15680,21280,'guess',0.83411330021923890676,0);
INSERT INTO word VALUES(5,4,21280,25280,'would',0.94771348090123375129,0);
INSERT INTO word VALUES(5,5,25280,28960,'have',0.94703647507647858994,0);
INSERT INTO word VALUES(5,6,28960,35360,'been',0.78882809993383373736,0);
INSERT INTO word VALUES(5,7,35840,43360,'leisure',0.75888790042908782496,0);
INSERT INTO word VALUES(5,8,43360,46240,'to',0.87254023954435400156,0);
INSERT INTO word VALUES(5,9,46240,55040,'consider',0.96351616886757185387,0);
INSERT INTO word VALUES(5,10,55040,63200,'how',0.96125222815090605177,0);
INSERT INTO word VALUES(5,11,64160,69280,'much',0.97147495522206450679,0);
INSERT INTO word VALUES(5,12,69280,72320,'there',0.82316620959052522188,0);
INSERT INTO word VALUES(5,13,72320,76640,'might',0.78854070040753287962,0);
INSERT INTO word VALUES(5,14,76640,79040,'be',0.9789315314411921598,0);
INSERT INTO word VALUES(5,15,79040,87360,'greatly',0.73635999993920731032,0);
INSERT INTO word VALUES(5,16,87360,88960,'in',0.89084972824796238022,0);
INSERT INTO word VALUES(5,17,88960,91840,'his',0.83193445447560221417,0);
INSERT INTO word VALUES(5,18,91840,96640,'power',0.88800577160047466929,0);
INSERT INTO word VALUES(5,19,96640,98240,'to',0.84035500254548189946,0);
INSERT INTO word VALUES(5,20,98240,101280,'do',0.88346117367461807212,0);
INSERT INTO word VALUES(5,21,101280,106240,'for',0.9131352566153413397,0);
CREATE TABLE alternative (
    segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    confidence REAL,
    PRIMARY KEY (segment, number)
) STRICT, WITHOUT ROWID;
INSERT INTO alternative VALUES(1,1,'he was not until expose young man',0.2502058582053516833);
INSERT INTO alternative VALUES(1,2,'he was not until explosion man',0.24863433463687700797);
INSERT INTO alternative VALUES(1,3,'he was not until disposed young man',0.24633248868784593521);
INSERT INTO alternative VALUES(2,1,'mr john guess would have been at leisure to consider how much there might be prickly in his power to do for them',0.2503750206857638938);
INSERT INTO alternative VALUES(2,2,'mr john guess would have been at leisure to consider how much there might be prickly in his power to do for fun',0.24977477164667119535);
INSERT INTO alternative VALUES(2,3,'mr john guess would have been at leisure to consider how much there might be crudely in his power to do for them',0.24947518698180104479);
INSERT INTO alternative VALUES(3,1,'he was not until expose young man',0.2494369769227090805);
INSERT INTO alternative VALUES(3,2,'he was not until explosion man',0.24911288199336562021);
INSERT INTO alternative VALUES(3,3,'he was not fun builds those young man',0.24717713635977292541);
INSERT INTO alternative VALUES(5,1,'mr john guess would have been a leisure to consider how a much there might be greatly in his power to do for them',0.25028751757336009653);
INSERT INTO alternative VALUES(5,2,'mr john guess would have been a leisure to consider how a much there might be greatly in his power to do for fun',0.24983735313153834778);
INSERT INTO alternative VALUES(5,3,'mr john guess would have been a leisure to consider how a much there might be currently in his power to do for them',0.2495876117217414869);
CREATE TABLE gap (
    id INTEGER PRIMARY KEY,
    recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
    start_sample INTEGER NOT NULL,
    end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
    cause TEXT NOT NULL,
    UNIQUE (recording, start_sample, end_sample, cause)
) STRICT;
CREATE TABLE mark (
    id INTEGER PRIMARY KEY,
    recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
    sample INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (recording, sample, text)
) STRICT;
INSERT INTO mark VALUES(1,2,67200,'third chair');
CREATE VIRTUAL TABLE segment_text USING fts5 (
    text, content = 'segment', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
INSERT INTO segment_text (segment_text) VALUES ('rebuild');
CREATE TABLE export (
    id INTEGER PRIMARY KEY,
    recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
    pass INTEGER,
    volume TEXT NOT NULL,
    folder TEXT NOT NULL,
    manifest TEXT NOT NULL,
    exported_at REAL NOT NULL               -- seconds since 1970-01-01T00:00:00Z
) STRICT;
INSERT INTO export VALUES(1,2,5,'folder:/media/usb','vm/000002_clock-unverified','5eb1045065cf2183ec4ff8cbbf5fdf0f31c26c0752b5e77d49d0987c5f797676',1795800498.0);
CREATE TABLE erasure (
    recording INTEGER NOT NULL,
    erased_at REAL NOT NULL
) STRICT;
INSERT INTO erasure VALUES(3,1795800523.8015110492);
CREATE TABLE house (
    version INTEGER NOT NULL,
    schema TEXT NOT NULL
) STRICT;
INSERT INTO house VALUES(11,'fad0f618');
CREATE TABLE history (
    number INTEGER PRIMARY KEY,
    recording INTEGER,
    act TEXT NOT NULL,
    line TEXT NOT NULL,
    end_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO history VALUES(1,1,'recorded','{"act":"recorded","before":"0000000000000000000000000000000000000000000000000000000000000000","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","length":2.99,"number":1,"reason":"ended","recording":1,"sinceBoot":29337,"time":"2026-11-27T17:27:23Z"}',262);
INSERT INTO history VALUES(2,1,'written','{"act":"written","before":"5711a1f79bcc060cd88ec05415e1b097db6f81154428422f490ddda32f3ddf4a","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","engine":"pocketsphinx 0.8+5prealpha","number":2,"own":"5711a1f79bcc060cd88ec05415e1b097db6f81154428422f490ddda32f3ddf4a","pass":1,"recording":1,"sinceBoot":29342,"time":"2026-11-27T17:27:29Z"}',612);
INSERT INTO history VALUES(3,1,'signed','{"act":"signed","before":"b028b2022c860452da61b15f0378c17a0c7342f35c42c2ba3a50a952c4649de3","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","length":2.99,"number":3,"own":"b028b2022c860452da61b15f0378c17a0c7342f35c42c2ba3a50a952c4649de3","recording":1,"signature":"RUQYyzZxxh47h/gZ8BxBS9I/rhjwhm2oTlayRigylrotpbHEu7Cgqvk0Dxjr4smoVWQUj88jbVbyuAlQjIvmWbATNrZppk7L9gQ= 5nv512EwvobXLbKOaKq67VO7ggsWaCmwQ/LfwJQ5fqEtVAO2K78x8agG6sMTNAjA/NtNxUEpVth9mt9bso9DCA==","sinceBoot":29351,"sound":"0f8e7b446750517dfc5f444bccb67d2f65b05e2d2476d93600cee814f5791cc2","time":"2026-11-27T17:27:37Z"}',1207);
INSERT INTO history VALUES(4,2,'recorded','{"act":"recorded","before":"abfb40fe34db13de617787d853eb6f8c859fec9744ad0b2dbb96a18c4078d5c6","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","length":8.4,"number":4,"reason":"command","recording":2,"sinceBoot":29367,"time":"2026-11-27T17:27:54Z"}',1470);
INSERT INTO history VALUES(5,2,'written','{"act":"written","before":"069c812e80cc5ebc7dd65e4ca5861f3736e1314ef783be5ada9154188e6879e2","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","engine":"pocketsphinx 0.8+5prealpha","number":5,"own":"069c812e80cc5ebc7dd65e4ca5861f3736e1314ef783be5ada9154188e6879e2","pass":1,"recording":2,"sinceBoot":29367,"time":"2026-11-27T17:27:54Z"}',1820);
INSERT INTO history VALUES(6,2,'signed','{"act":"signed","before":"7b1379a07a207b7130a08edefc54e8ce53aaf1badaa265df17ab4650a0ca87eb","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","length":8.4,"number":6,"own":"7b1379a07a207b7130a08edefc54e8ce53aaf1badaa265df17ab4650a0ca87eb","recording":2,"signature":"RUQYyzZxxh47h2Lvo/8eW4VOuklpe+ocyGUh2UzqK3SowRnjAWCgO0R/j/9EZnAepx9HHEm2ARlc9M7uJwAQRa8cuoBfkyToJg8= jS+eYyvoRf8i/I5cbCk50fRKPfcfOUT1Uaj1cSjS2SORWPk86uvqws8lAq+G+ImpYhrtJ8RcjXiNstl5mQfBAg==","sinceBoot":29367,"sound":"815866f7793616317dbb3c7db9dc4bfe270642e9db58f32d59a7e3ddc7c82731","time":"2026-11-27T17:27:54Z"}',2414);
INSERT INTO history VALUES(7,1,'written','{"act":"written","before":"4cf720f6b78afeb690792121776a04ef79210ae0a4a8597c7cbce65c476a1e7d","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","engine":"pocketsphinx 0.8+5prealpha","number":7,"own":"abfb40fe34db13de617787d853eb6f8c859fec9744ad0b2dbb96a18c4078d5c6","pass":2,"recording":1,"sinceBoot":29381,"time":"2026-11-27T17:28:08Z"}',2764);
INSERT INTO history VALUES(8,2,'corrected','{"act":"corrected","before":"adaa0c66e8612b21f3ef1c81df2a5d0f32ef9190e4351872f6082b5d0a655fc1","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","number":8,"own":"4cf720f6b78afeb690792121776a04ef79210ae0a4a8597c7cbce65c476a1e7d","pass":3,"recording":2,"sinceBoot":29392,"time":"2026-11-27T17:28:18Z"}',3078);
INSERT INTO history VALUES(9,2,'copied','{"act":"copied","before":"cb30174b810746b18da987b79e08cf2264fa97bc4790a42c60f70d37c06b085f","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","digest":"5eb1045065cf2183ec4ff8cbbf5fdf0f31c26c0752b5e77d49d0987c5f797676","folder":"vm/000002_clock-unverified","number":9,"own":"cb30174b810746b18da987b79e08cf2264fa97bc4790a42c60f70d37c06b085f","recording":2,"sinceBoot":29393,"time":"2026-11-27T17:28:19Z","volume":"folder"}',3512);
INSERT INTO history VALUES(10,2,'written','{"act":"written","before":"6bad222a8209c07a91fd326cf68682681389e29b748d402ae663d43ad84cc08c","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","engine":"pocketsphinx 0.8+5prealpha","number":10,"own":"6bad222a8209c07a91fd326cf68682681389e29b748d402ae663d43ad84cc08c","pass":2,"recording":2,"sinceBoot":29395,"time":"2026-11-27T17:28:21Z"}',3863);
INSERT INTO history VALUES(11,3,'recorded','{"act":"recorded","before":"fd931d3a4ebd4d206e01b58b012d501741061172bc5074dffbea514764a8dfb1","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","length":5.3,"number":11,"reason":"ended","recording":3,"sinceBoot":29406,"time":"2026-11-27T17:28:33Z"}',4125);
INSERT INTO history VALUES(12,3,'written','{"act":"written","before":"4a5332cdc94d9f3fde9d849b87cd3fb9fc806b4b960936544e7ee435c6df3b8f","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","engine":"pocketsphinx 0.8+5prealpha","number":12,"own":"4a5332cdc94d9f3fde9d849b87cd3fb9fc806b4b960936544e7ee435c6df3b8f","pass":1,"recording":3,"sinceBoot":29417,"time":"2026-11-27T17:28:43Z"}',4476);
INSERT INTO history VALUES(13,3,'erased','{"act":"erased","before":"408ce34e95dd9359bd00aa0b6fa6b42e622b3788b04af087e6e316ee6a0d2c64","boot":"ba455440ae73412a829db0f4ef83bdad","clock":"unverified","number":13,"own":"408ce34e95dd9359bd00aa0b6fa6b42e622b3788b04af087e6e316ee6a0d2c64","recording":3,"sinceBoot":29417,"time":"2026-11-27T17:28:43Z"}',4779);
CREATE TABLE turn (
    recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
    start_sample INTEGER NOT NULL,
    end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
    speaker INTEGER NOT NULL,               -- 0, 1 ... in the order in which they are first heard
    PRIMARY KEY (recording, start_sample)
) STRICT, WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('recording',3);
INSERT INTO sqlite_sequence VALUES('pass',6);
CREATE INDEX pass_of_recording ON pass (recording);
CREATE TRIGGER segment_is_indexed AFTER INSERT ON segment BEGIN
    INSERT INTO segment_text (rowid, text) VALUES (NEW.id, NEW.text);
END;
CREATE TRIGGER segment_leaves_index AFTER DELETE ON segment BEGIN
    INSERT INTO segment_text (segment_text, rowid, text) VALUES ('delete', OLD.id, OLD.text);
END;
CREATE TRIGGER segments_are_in_order BEFORE INSERT ON segment
WHEN EXISTS (
    SELECT 1 FROM (SELECT number, end_sample FROM segment WHERE pass = NEW.pass ORDER BY number DESC LIMIT 1) AS last
    WHERE NEW.number <= last.number OR NEW.start_sample < last.end_sample
) BEGIN
    SELECT RAISE(ABORT, 'a segment overlaps or precedes the last one of its pass');
END;
CREATE TRIGGER segment_never_changes BEFORE UPDATE ON segment BEGIN
    SELECT RAISE(ABORT, 'a committed segment never changes');
END;
CREATE TRIGGER word_never_changes BEFORE UPDATE ON word BEGIN
    SELECT RAISE(ABORT, 'a committed segment never changes');
END;
CREATE TRIGGER alternative_never_changes BEFORE UPDATE ON alternative BEGIN
    SELECT RAISE(ABORT, 'a committed segment never changes');
END;
CREATE INDEX export_of_recording ON export (recording);
CREATE INDEX export_to_volume ON export (volume);
CREATE INDEX recording_of_boot ON recording (boot_id);
CREATE INDEX history_of_recording ON history (recording, act);
CREATE INDEX history_end ON history (end_bytes);
COMMIT;
PRAGMA foreign_keys = ON;
